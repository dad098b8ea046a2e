import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The policy of the page allows styles that carry its nonce. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

/** The looks of source, in the colours of the console. */
export const codeTheme: Extension = [
  EditorView.cspNonce.of(nonce),
  EditorView.theme({
    '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--panel)', fontSize: '13px' },
    '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
    '.cm-content': { caretColor: 'var(--ink)' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-gutters': {
      color: 'var(--ink-soft)',
      backgroundColor: 'var(--panel)',
      borderRight: '1px solid var(--line)',
    },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--tint)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      background: 'var(--accent-tint)',
    },
    '.cm-tooltip': {
      border: '1px solid var(--line)',
      borderRadius: '8px',
      color: 'var(--ink)',
      backgroundColor: 'var(--panel-raised)',
      overflow: 'hidden',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': {
      color: 'var(--on-accent)',
      backgroundColor: 'var(--accent)',
    },
    '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
    '.cm-foldPlaceholder': { color: 'var(--ink-soft)', background: 'var(--tint)', border: 'none' },
    '.cm-deletedChunk, &.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-tint)' },
    '&.cm-merge-b .cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--good-tint)' },
    '&.cm-merge-a .cm-changedText, &.cm-merge-b .cm-changedText': {
      background: 'none',
      textDecoration: 'underline 2px',
      textUnderlineOffset: '3px',
    },
    '.cm-collapsedLines': { color: 'var(--ink-soft)', background: 'var(--tint)' },
    '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"…"' },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.tagName, tags.angleBracket], color: 'light-dark(#0b5cad, #7fb5ff)' },
      {
        tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword],
        color: 'light-dark(#8a1fa8, #e4a0f5)',
      },
      { tag: [tags.attributeName, tags.propertyName], color: 'light-dark(#7a4b00, #eec072)' },
      { tag: [tags.string, tags.attributeValue], color: 'light-dark(#136b3a, #7fd8a4)' },
      { tag: [tags.variableName, tags.function(tags.variableName)], color: 'light-dark(#a1260d, #ffab94)' },
      { tag: [tags.number, tags.bool, tags.atom, tags.unit], color: 'light-dark(#6b3fc0, #c3a6ff)' },
      { tag: [tags.comment, tags.docComment], color: 'var(--ink-soft)', fontStyle: 'italic' },
      { tag: [tags.brace, tags.punctuation, tags.operator, tags.meta], color: 'var(--ink-soft)' },
    ]),
  ),
];
