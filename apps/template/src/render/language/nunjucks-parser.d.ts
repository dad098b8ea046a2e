/** Only the parser of Nunjucks is used; its declarations leave it out. */
declare module 'nunjucks/src/parser' {
  export function parse(source: string): unknown;
}
