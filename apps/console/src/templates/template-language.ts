import { html } from '@codemirror/lang-html';
import { closePercentBrace, jinja } from '@codemirror/lang-jinja';
import type { EditorState, Extension } from '@codemirror/state';
import { proposalsFor } from './completions';

const typeOfKind = { variable: 'variable', filter: 'function', tag: 'keyword' };

/** HTML with the language of templates in it. */
export function templateLanguage(names: () => readonly string[]): Extension {
  const base = html({ matchClosingTags: true });
  const { language } = jinja({ base });
  const complete = language.data.of({
    autocomplete: ({ pos, state, explicit }: { pos: number; state: EditorState; explicit: boolean }) => {
      const found = proposalsFor(state.sliceDoc(0, pos), names());
      if (!found || (!explicit && found.from === pos)) return null;
      const options = found.proposals.map(({ label, kind }) => ({ label, type: typeOfKind[kind] }));
      return { from: found.from, options, validFor: /^[\w.]*$/ };
    },
  });
  return [language, base.support, complete, closePercentBrace];
}
