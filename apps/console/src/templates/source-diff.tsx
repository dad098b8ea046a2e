import { html } from '@codemirror/lang-html';
import { jinja } from '@codemirror/lang-jinja';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useTexts } from '../texts/texts';
import { codeTheme } from './code-theme';

/** Two texts side by side, with what differs. */
export function SourceDiff({ before, after }: { before: string; after: string }) {
  const { t } = useTexts();
  const place = useRef<HTMLDivElement>(null);
  const former = t('Console.templates.revisions.before');
  const latter = t('Console.templates.revisions.after');
  const unchanged = t('Console.templates.revisions.unchanged', { lines: '$' });
  useEffect(() => {
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        lineNumbers(),
        EditorState.readOnly.of(true),
        EditorState.phrases.of({ '$ unchanged lines': unchanged }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        jinja({ base: html() }),
        codeTheme,
      ],
    });
    const view = new MergeView({
      parent: place.current!,
      a: side(before, former),
      b: side(after, latter),
      collapseUnchanged: { margin: 4, minSize: 8 },
    });
    return () => view.destroy();
  }, [before, after, former, latter, unchanged]);
  return <div ref={place} className="panel source-diff" />;
}
