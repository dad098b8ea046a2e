import fc from 'fast-check';

type Mode = 'UPSERT' | 'INSERT' | 'UPDATE';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const mode = fc.constantFrom<Mode>('UPSERT', 'UPSERT', 'INSERT', 'UPDATE');

/** Imports, changes by requests and undone imports, in any order. */
export const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('import' as const), mode, keys: fc.uniqueArray(key, { minLength: 1 }) }),
    fc.record({ kind: fc.constant('undo' as const), job: fc.nat(20) }),
    fc.record({ kind: fc.constantFrom('change' as const, 'delete' as const), key }),
  ),
  { minLength: 3, maxLength: 12 },
);

/** The value of a row, and the change that wrote it. */
interface Version {
  name: string;
  writer: object;
}

/** One row from its creation to its end; a later row of the same key is another one. */
interface ModelRow {
  key: string;
  now: Version | undefined;
}

interface Written {
  row: ModelRow;
  writer: object;
  former: Version | undefined;
}

/** What undoing an import must do: rows without a later change are as before the import, all others stay. */
export class UndoModel {
  private readonly rows = new Map<string, ModelRow>();
  private readonly jobs: { written: Written[]; isUndone: boolean }[] = [];

  has = (key: string): boolean => this.rows.has(key);

  names = () => Object.fromEntries([...this.rows].map(([key, { now }]) => [key, now!.name]));

  isUndone = (job: number): boolean => this.jobs[job % this.jobs.length]!.isUndone;

  change(kind: 'change' | 'delete', key: string, name: string): void {
    if (kind === 'delete') this.end(this.rows.get(key)!);
    else this.write(key, { name, writer: {} });
  }

  import(mode: Mode, keys: readonly string[], name: string): void {
    const written: Written[] = [];
    for (const key of keys) {
      const isThere = this.has(key);
      if (mode === (isThere ? 'INSERT' : 'UPDATE')) continue;
      const writer = {};
      const former = this.rows.get(key)?.now;
      written.push({ row: this.write(key, { name, writer }), writer, former });
    }
    this.jobs.push({ written, isUndone: false });
  }

  undo(number: number) {
    const job = this.jobs[number % this.jobs.length]!;
    job.isUndone = true;
    const result = { removed: 0, restored: 0, gone: 0, kept: [] as string[] };
    for (const { row, writer, former } of job.written) {
      if (!row.now && !former) result.gone++;
      else if (!row.now) result.kept.push(`${row.key} DeletedSince`);
      else if (row.now.writer !== writer) result.kept.push(`${row.key} ChangedSince`);
      else if (former) {
        row.now = former;
        result.restored++;
      } else {
        this.end(row);
        result.removed++;
      }
    }
    return { ...result, kept: result.kept.sort() };
  }

  private write(key: string, version: Version): ModelRow {
    const row = this.rows.get(key) ?? { key, now: undefined };
    row.now = version;
    this.rows.set(key, row);
    return row;
  }

  private end(row: ModelRow): void {
    row.now = undefined;
    this.rows.delete(row.key);
  }
}
