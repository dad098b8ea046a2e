import { templateFilters, templateTags } from '@plinth/contracts/template/language';

export interface Proposal {
  label: string;
  kind: 'variable' | 'filter' | 'tag';
}

/** What may be written at the end of a text. */
export interface Proposals {
  /** Where the begun word starts. */
  from: number;
  proposals: Proposal[];
}

const words = 't range cycler joiner true false none loop.index loop.first loop.last and or not in is'.split(
  ' ',
);

/**
 * What may come next behind `before`, the text up to the caret: a filter behind `|`, a tag behind `{%`, else a
 * variable, or a member of the one that was begun. Undefined outside of `{{ … }}` and `{% … %}`.
 * @param names variables as dotted paths, those of items of lists as `lines[].price`
 */
export function proposalsFor(before: string, names: readonly string[]): Proposals | undefined {
  const open = Math.max(before.lastIndexOf('{{'), before.lastIndexOf('{%'));
  if (open < 0 || /\}\}|%\}/.test(before.slice(open + 2))) return undefined;
  const inside = before.slice(open + 2).replace(/^-/, '');
  const word = /[\w.]*$/.exec(inside)![0];
  const from = before.length - word.length;
  const leading = inside.slice(0, inside.length - word.length);
  // Within quotes there is text, and behind a number nothing.
  if ((leading.match(/"/g)?.length ?? 0) % 2 === 1 || (leading.match(/'/g)?.length ?? 0) % 2 === 1)
    return undefined;
  if (/^\d/.test(word)) return undefined;
  if (/\|\s*$/.test(leading)) return { from, proposals: of(templateFilters, 'filter') };
  if (before.startsWith('{%', open) && leading.trim() === '')
    return { from, proposals: of(templateTags, 'tag') };
  const known = [...names, ...itemNames(before, names), ...words];
  return { from, proposals: of([...new Set(known)], 'variable') };
}

const of = (labels: readonly string[], kind: Proposal['kind']): Proposal[] =>
  labels.map((label) => ({ label, kind }));

/** In `{% for line in lines %}` the members of `lines[]` are those of `line`. */
function itemNames(before: string, names: readonly string[]): string[] {
  const loops = [...before.matchAll(/\{%-?\s*for\s+(\w+)\s+in\s+([\w.]+)/g)];
  return loops.flatMap(([, item, list]) =>
    names.filter((name) => name.startsWith(`${list}[]`)).map((name) => item + name.slice(list!.length + 2)),
  );
}
