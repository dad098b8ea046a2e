import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import {
  Compartment,
  EditorState,
  StateEffect,
  StateField,
  Transaction,
  type Extension,
  type Text,
} from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  type Command,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTexts, type Texts } from '../texts/texts';
import { codeTheme } from './code-theme';
import { templateLanguage } from './template-language';

export interface SourceError {
  message: string;
  line?: number | undefined;
  column?: number | undefined;
}

export interface CodeEditorProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** With what is written, of which the last letters may not be drawn yet. */
  onSave: (value: string) => void;
  /** Told when it is on the page, and with nothing when it is taken away. */
  onEditor: (editor: EditorView | undefined) => void;
  errors: readonly SourceError[];
  /** What a template may read, as dotted paths. */
  names: readonly string[];
  isReadOnly: boolean;
}

/** Where an error is: from its place to the end of the word there, at least one character. */
function diagnosticOf(document: Text, { message, line = 1, column = 1 }: SourceError): Diagnostic {
  const { from, to, text } = document.line(Math.min(Math.max(line, 1), document.lines));
  const start = Math.min(from + Math.max(column - 1, 0), Math.max(to - 1, from));
  const word = /^[\w.]+/.exec(text.slice(start - from))?.[0].length ?? 1;
  return { from: start, to: Math.min(start + word, document.length), severity: 'error', message };
}

/** What is said and shown in the reader's language. */
const words = new Compartment();

const wordsOf = (label: string, t: Texts['t']): Extension => [
  EditorState.phrases.of({
    'Fold line': t('Console.templates.fold'),
    'Unfold line': t('Console.templates.unfold'),
    unfold: t('Console.templates.unfold'),
    'folded code': t('Console.templates.folded'),
    'Folded lines': t('Console.templates.folded'),
    'Unfolded lines': t('Console.templates.unfolded'),
    to: t('Console.templates.linesTo'),
    'Selection deleted': t('Console.templates.selectionDeleted'),
    Completions: t('Console.templates.completions'),
  }),
  EditorView.contentAttributes.of({
    'aria-label': label,
    'aria-description': t('Console.templates.leaveSource'),
    tabindex: '0',
  }),
];

const writing = StateEffect.define<boolean>();

/** Whether somebody came to write: only passing through by Tab, nobody is held and nothing is indented. */
const isWriting = StateField.define<boolean>({
  create: () => false,
  update: (value, change) => {
    const latest = change.effects.filter((effect) => effect.is(writing)).at(-1);
    // A text that comes from outside is nobody's writing.
    const isWritten = change.docChanged && change.annotation(Transaction.userEvent) !== undefined;
    return isWritten || (latest?.value ?? value);
  },
});

const whileWriting =
  (command: Command): Command =>
  (view) =>
    (view.state.field(isWriting) || !view.state.selection.main.empty) && command(view);
const indentMoreWhileWriting = whileWriting(indentMore);
const indentLessWhileWriting = whileWriting(indentLess);

/**
 * The editor of a template's source, which is nothing until it can be written in. It is made in pieces, between which keys
 * are answered: the state, which reads the text, the view, and what the browser lays out.
 */
export function CodeEditor({
  label,
  value,
  onChange,
  onSave,
  onEditor,
  errors,
  names,
  isReadOnly,
}: CodeEditorProps) {
  const { t } = useTexts();
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<EditorView>();
  const spoken = useMemo(() => wordsOf(label, t), [label, t]);
  const latest = useRef({ onChange, onSave, names, value, spoken });
  useEffect(() => {
    latest.current = { onChange, onSave, names, value, spoken };
  });

  useEffect(() => {
    const save: Command = ({ state }) => {
      latest.current.onSave(state.doc.toString());
      return true;
    };
    let view: EditorView | undefined;
    let isWindowLeft = false;
    const state = EditorState.create({
      doc: latest.current.value,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        lintGutter(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(isReadOnly),
        words.of(latest.current.spoken),
        keymap.of([
          { key: 'Mod-s', run: save, preventDefault: true },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...completionKeymap,
          { key: 'Tab', run: indentMoreWhileWriting, shift: indentLessWhileWriting },
        ]),
        isWriting,
        EditorView.domEventHandlers({
          // Whoever comes back to the window goes on where they were.
          blur: (_event, view) => {
            isWindowLeft = document.activeElement === view.contentDOM;
          },
          focus: (_event, view) => {
            if (!isWindowLeft) view.dispatch({ effects: writing.of(false) });
            isWindowLeft = false;
          },
          click: (_event, view) => view.dispatch({ effects: writing.of(true) }),
        }),
        templateLanguage(() => latest.current.names),
        codeTheme,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onChange(update.state.doc.toString());
        }),
      ],
    });
    let next = setTimeout(() => {
      view = new EditorView({ state });
      next = setTimeout(() => setEditor(view));
    });
    return () => {
      clearTimeout(next);
      setEditor(undefined);
      view?.destroy();
    };
  }, [isReadOnly]);

  useLayoutEffect(() => {
    if (!editor) return;
    place.current!.append(editor.dom);
    // Before it is painted: else line numbers move.
    editor.requestMeasure();
    onEditor(editor);
    return () => onEditor(undefined);
  }, [editor, onEditor]);

  useEffect(() => {
    // In place: another language is no reason to lose what can be undone.
    if (editor && words.get(editor.state) !== spoken) editor.dispatch({ effects: words.reconfigure(spoken) });
  }, [editor, spoken]);

  // Before anybody writes more: that would differ from the value, and go.
  useLayoutEffect(() => {
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [editor, value]);

  const hasShownErrors = useRef(false);
  useEffect(() => {
    if (!editor || (errors.length === 0 && !hasShownErrors.current)) return;
    // Not asked of the editor: of a text that was deleted it counts nothing and still marks the line.
    hasShownErrors.current = errors.length > 0;
    const diagnostics = errors.map((error) => diagnosticOf(editor.state.doc, error));
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [editor, errors]);

  return editor && <div ref={place} className="code-editor" />;
}
