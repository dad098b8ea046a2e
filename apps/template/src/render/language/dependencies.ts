import { LimitError } from './meter';
import { pathOf, walk, type Expression, type Statement } from './syntax';

/** What a template refers to besides its data. */
export interface Dependencies {
  /** Names of included, imported and extended templates. */
  partials: string[];
  /** Keys of translations, such as `Invoice:total`. */
  texts: string[];
  /** Names of settings, such as `Service.Timing.PreferredTimezone`. */
  settings: string[];
}

/** Characters of the names of all that one rendering depends on: each name is looked up, and kept, in other processes. */
export const NAMES_LENGTH_MAX = 200_000;

/** A name takes as much memory and work as so many more characters. */
const NAME_LENGTH = 50;

/** What names count as where the characters of names are limited. */
export const lengthOfNames = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + NAME_LENGTH + name.length, 0);

type Named = Record<keyof Dependencies, object>;

type Names = Record<keyof Dependencies, Set<string>>;

const noNames = (): Names => ({ partials: new Set(), texts: new Set(), settings: new Set() });

const toDependencies = ({ partials, texts, settings }: Names): Dependencies => ({
  partials: [...partials],
  texts: [...texts],
  settings: [...settings],
});

/** What a rendering depends on: what it has, and what it is to be run again with; each name once. */
export class NamesToLoad {
  private readonly missing = noNames();
  private readonly usedNames = noNames();
  private length: number;

  constructor(private readonly known: Named) {
    const { partials, texts, settings } = known;
    this.length = [partials, texts, settings].reduce((sum, one) => sum + lengthOfNames(Object.keys(one)), 0);
  }

  /** @throws LimitError where the names of the rendering are too many or too long together */
  add(kind: keyof Dependencies, name: string): void {
    if (Object.hasOwn(this.known[kind], name)) {
      this.usedNames[kind].add(name);
      return;
    }
    if (this.missing[kind].has(name)) return;
    this.length += lengthOfNames([name]);
    if (this.length > NAMES_LENGTH_MAX) throw new LimitError('names');
    this.missing[kind].add(name);
  }

  has(kind: keyof Dependencies): boolean {
    return this.missing[kind].size > 0;
  }

  /** What is to be loaded; undefined where nothing is. */
  get dependencies(): Dependencies | undefined {
    const { partials, texts, settings } = this.missing;
    return partials.size + texts.size + settings.size > 0 ? toDependencies(this.missing) : undefined;
  }

  /** What it had and depends on; more may have been loaded for it. */
  get used(): Dependencies {
    return toDependencies(this.usedNames);
  }
}

/** Finds the dependencies that are named in a template; computed names are known only when it runs. */
export function dependenciesOf(statements: readonly Statement[]): Dependencies {
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
  return { partials: [...templates], texts: [...texts], settings: withoutPrefixes([...settings]) };
}

/** The texts that an expression can result in, as far as they are literals. */
function literalsIn(expression: Expression | undefined): string[] {
  if (expression?.kind === 'literal') return typeof expression.value === 'string' ? [expression.value] : [];
  if (expression?.kind === 'conditional') {
    return [...literalsIn(expression.then), ...literalsIn(expression.otherwise)];
  }
  if (expression?.kind === 'or') return [...literalsIn(expression.left), ...literalsIn(expression.right)];
  return [];
}

/** `a.b.c` is read through `a.b` and `a`; only the whole path is the name of a setting. */
const withoutPrefixes = (paths: string[]): string[] =>
  paths.filter((path) => !paths.some((other) => other.startsWith(`${path}.`)));
