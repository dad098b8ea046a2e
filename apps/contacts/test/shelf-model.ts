import fc from 'fast-check';

type Mode = 'UPSERT' | 'INSERT' | 'UPDATE';

export type Step =
  | { kind: 'import'; mode: Mode; keys: string[] }
  | { kind: 'undo'; job: number }
  | { kind: 'change' | 'delete'; key: string };

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const mode = fc.constantFrom<Mode>('UPSERT', 'UPSERT', 'INSERT', 'UPDATE');

/** Imports, changes by people and undone imports, in any order. */
export const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('import' as const), mode, keys: fc.uniqueArray(key, { minLength: 1 }) }),
    fc.record({ kind: fc.constant('undo' as const), job: fc.nat(20) }),
    fc.record({ kind: fc.constantFrom('change' as const, 'delete' as const), key }),
  ),
  { minLength: 3, maxLength: 12 },
);

/** What a row is, and which change made it so. */
interface Version {
  name: string;
  writer: object;
}

/** One row from its creation to its end; a later row of the same key is another one. */
interface Thing {
  key: string;
  now: Version | undefined;
}

interface Written {
  thing: Thing;
  writer: object;
  former: Version | undefined;
}

/** What an undo is to do: rows that nobody wrote since are as before the import, all others stay. */
export class Shelf {
  private readonly things = new Map<string, Thing>();
  private readonly jobs: { written: Written[]; isUndone: boolean }[] = [];

  has = (key: string): boolean => this.things.has(key);

  names = () => Object.fromEntries([...this.things].map(([key, { now }]) => [key, now!.name]));

  isUndone = (job: number): boolean => this.jobs[job % this.jobs.length]!.isUndone;

  touch(kind: 'change' | 'delete', key: string, name: string): void {
    if (kind === 'delete') this.end(this.things.get(key)!);
    else this.write(key, { name, writer: {} });
  }

  import(mode: Mode, keys: readonly string[], name: string): void {
    const written: Written[] = [];
    for (const key of keys) {
      const isThere = this.has(key);
      if (mode === (isThere ? 'INSERT' : 'UPDATE')) continue;
      const writer = {};
      const former = this.things.get(key)?.now;
      written.push({ thing: this.write(key, { name, writer }), writer, former });
    }
    this.jobs.push({ written, isUndone: false });
  }

  undo(number: number) {
    const job = this.jobs[number % this.jobs.length]!;
    job.isUndone = true;
    const result = { removed: 0, restored: 0, gone: 0, kept: [] as string[] };
    for (const { thing, writer, former } of job.written) {
      if (!thing.now && !former) result.gone++;
      else if (!thing.now) result.kept.push(`${thing.key} DeletedSince`);
      else if (thing.now.writer !== writer) result.kept.push(`${thing.key} ChangedSince`);
      else if (former) {
        thing.now = former;
        result.restored++;
      } else {
        this.end(thing);
        result.removed++;
      }
    }
    return { ...result, kept: result.kept.sort() };
  }

  private write(key: string, version: Version): Thing {
    const thing = this.things.get(key) ?? { key, now: undefined };
    thing.now = version;
    this.things.set(key, thing);
    return thing;
  }

  private end(thing: Thing): void {
    thing.now = undefined;
    this.things.delete(thing.key);
  }
}
