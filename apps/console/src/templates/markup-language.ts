// By itself, so that what the browser does to read its grammars is a task of its own.
export { html } from '@codemirror/lang-html';
