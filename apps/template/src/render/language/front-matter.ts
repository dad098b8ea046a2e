/** What the comments at the very start of a template say about the document. */
export interface FrontMatter {
  /** A template of one line. */
  subject?: string;
  /** `A4`, `A4 landscape`, `210mm 297mm`. */
  page?: string;
  /** One to four lengths, as in CSS. */
  margin?: string;
  header?: string;
  footer?: string;
  /** Name of PDF and Excel files, without the ending. */
  file?: string;
}

const keys = ['subject', 'page', 'margin', 'header', 'footer', 'file'] as const;

/**
 * Takes the leading comments of the form `{# key: value #}` off a template. The rest keeps its line numbers: the
 * lines of the comments are counted in `linesBefore`.
 */
export function readFrontMatter(source: string): { front: FrontMatter; body: string; linesBefore: number } {
  const front: FrontMatter = {};
  let rest = source.replace(/^\uFEFF/, '');
  let linesBefore = 0;
  for (;;) {
    const [all, key, value] = /^\s*\{#-?\s*(\w+)\s*:([\s\S]*?)-?#\}[^\S\n]*\n?/.exec(rest) ?? [];
    const known = keys.find((name) => name === key?.toLowerCase());
    if (all === undefined || value === undefined || known === undefined)
      return { front, body: rest, linesBefore };
    front[known] ??= value.trim();
    linesBefore += all.split('\n').length - 1;
    rest = rest.slice(all.length);
  }
}
