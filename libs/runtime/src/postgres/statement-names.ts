import { AsyncLocalStorage } from 'node:async_hooks';

/** A backend holds what it prepared until its connection ends, so there is a limit. */
const NAMES_MAX = 300;
const unnamed = new AsyncLocalStorage<true>();

/**
 * Runs what sends statements whose texts callers shape by filters, orders and the like: they have no names, since they would
 * take those of all others.
 */
export const withoutStatementNames = <Result>(work: () => Promise<Result>): Promise<Result> =>
  unnamed.run(true, work);

/**
 * The names under which connections prepare statements, so that Postgres parses each once on a connection; undefined for
 * those of `withoutStatementNames`, and where there are too many already.
 * @param hasName whether a text comes again as it is
 */
export function statementNames(
  prefix: string,
  hasName: (text: string) => boolean = () => true,
): (text: string) => string | undefined {
  const nameByText = new Map<string, string>();
  return (text) => {
    if (unnamed.getStore()) return undefined;
    const known = nameByText.get(text);
    if (known !== undefined || nameByText.size >= NAMES_MAX || !hasName(text)) return known;
    const name = `${prefix}_${nameByText.size + 1}`;
    nameByText.set(text, name);
    return name;
  };
}
