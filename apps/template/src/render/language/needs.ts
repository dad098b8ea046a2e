import { pathOf } from './evaluate';
import { walk, type Expression, type Statement } from './syntax';

/** What a template asks for besides its data. */
export interface Needs {
  /** Names of included, imported and extended templates. */
  templates: string[];
  /** Keys of translations, such as `Invoice:total`. */
  texts: string[];
  /** Names of settings, such as `Service.Timing.PreferredTimezone`. */
  settings: string[];
}

/** Finds what a template asks for by names that are written out in it; computed names show only when it runs. */
export function needsOf(statements: readonly Statement[]): Needs {
  const templates = new Set<string>();
  const texts = new Set<string>();
  const settings = new Set<string>();
  walk(statements, {
    statement: (statement) => {
      if ('template' in statement) for (const name of literalsIn(statement.template)) templates.add(name);
    },
    expression: (expression) => {
      if (expression.kind === 'call' && expression.target.kind === 'name' && expression.target.name === 't') {
        for (const key of literalsIn(expression.arguments.positional[0])) texts.add(key);
      }
      const path = expression.kind === 'member' ? pathOf(expression) : undefined;
      if (path?.startsWith('settings.')) settings.add(path.slice('settings.'.length));
    },
  });
  return { templates: [...templates], texts: [...texts], settings: longest([...settings]) };
}

/** The texts that an expression can be, as far as they are written out. */
function literalsIn(expression: Expression | undefined): string[] {
  if (expression?.kind === 'literal') return typeof expression.value === 'string' ? [expression.value] : [];
  if (expression?.kind === 'conditional') {
    return [...literalsIn(expression.then), ...literalsIn(expression.otherwise)];
  }
  if (expression?.kind === 'or') return [...literalsIn(expression.left), ...literalsIn(expression.right)];
  return [];
}

/** `a.b.c` is read through `a.b` and `a`; only the whole path is the name of a setting. */
const longest = (paths: string[]): string[] =>
  paths.filter((path) => !paths.some((other) => other.startsWith(`${path}.`)));
