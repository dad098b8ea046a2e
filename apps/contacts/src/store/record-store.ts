import type { ListRequest } from '@plinth/http/paging';
import type { RowQuota } from '@plinth/http/row-quota';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { requirePrecondition, type Precondition } from '@plinth/kernel/entity-tag';
import { newId } from '@plinth/kernel/uuid';
import { checkedForValues } from '@plinth/runtime/postgres/checked-for-values';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { raw, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { operationRecorded, runOnce, runUnlessRecorded } from '@plinth/runtime/postgres/run-once';
import type { Problem } from '@plinth/kernel/problem';
import { externalIdTaken } from '../domain/problems';
import { publishDeleted, publishSaved, type RecordEvents } from '../events/published';
import type { Prisma } from '../generated/client';

type Tx = Prisma.TransactionClient;

/** The columns that every kind of record has. */
export interface RecordRow {
  id: string;
  externalId: string;
  version: number;
  createdAt: Date;
  changedAt: Date;
}

/** The part of a Prisma model that is used here. */
export interface Model<Row> {
  findMany(query: object): Promise<Row[]>;
  findFirst(query: object): Promise<Row | null>;
  count(query: object): Promise<number>;
  update(query: object): Promise<Row>;
  delete(query: object): Promise<Row>;
}

/** How one kind of record differs from the other. */
export interface RecordKind<Row, Fields> {
  table: 'contact' | 'company';
  events: RecordEvents;
  searchable: readonly string[];
  model(tx: Tx): Model<Row>;
  /** The tag of all that a response shows. */
  tagOf(row: Row): string;
  /** Related rows that a response shows. */
  include?: object;
  /** The same for the rows of a page: Prisma would look for them by lists of tenants and ids (ADR 0022). */
  withRelated?(tx: Tx, tenantId: string, rows: Row[]): Promise<Row[]>;
  /** The same for what was just written, by its request: Prisma would read the row again for them. */
  relatedOf?(fields: Fields): object;
  /** Has what a response shows of them stay as it is until the commit. */
  holdRelated?(tx: Tx, tenantId: string, id: string): Promise<unknown>;
  /** What the other does not have. */
  ownFields: readonly string[];
  /** The values of columns that a request gives. */
  columnsOf(tx: Tx, tenantId: string, fields: Fields): Promise<object>;
  /** The values that no request gives a new row. */
  initial?: object;
  requireDeletable?(tx: Tx, tenantId: string, id: string): Promise<void>;
  notFound(id: string): Problem;
}

export interface RecordStore<Row, Fields> {
  list(tenantId: string, list: ListRequest): Promise<{ rows: Row[]; totalCount: number | null }>;
  get(tenantId: string, id: string): Promise<Row>;
  /** A repeated operation finds what it created the first time. @throws Problem `quota-exceeded` */
  create(caller: Caller, fields: Fields): Promise<Row>;
  /** A repeated operation changes nothing more, and returns the record as it is now. */
  update(caller: Caller, id: string, fields: Fields, precondition: Precondition): Promise<Row>;
  /** A repeated operation finds that it deleted the record. */
  delete(caller: Caller, id: string, precondition: Precondition): Promise<void>;
}

export interface StoreParts {
  db: TenantDatabase<Tx>;
  clock: Clock;
  /** Of each table. */
  quotas: Record<'contact' | 'company', Pick<RowQuota, 'take'>>;
}

const FIELDS = [
  'tenantId',
  'id',
  'externalId',
  'version',
  'createdAt',
  'createdBy',
  'changedAt',
  'changedBy',
];
const TIMES = ['createdAt', 'changedAt'];

/** Stores records of one kind. Changes of one record wait for each other. */
export function recordStore<Row extends RecordRow, Fields extends { externalId: string }>(
  kind: RecordKind<Row, Fields>,
  { db, clock, quotas }: StoreParts,
): RecordStore<Row, Fields> {
  const { model, events } = kind;
  const included = kind.include ? { include: kind.include } : {};
  const inserted = insertionInto(kind.table, [...FIELDS, ...kind.ownFields]);

  /** The row as it is now, locked until the end of the transaction. */
  const readLocked = async (
    tx: Tx,
    { tenantId }: Caller,
    id: string,
    precondition: Precondition,
  ): Promise<Row> => {
    await tx.$queryRawUnsafe(
      `SELECT id FROM ${kind.table} WHERE tenant_id = $1::uuid AND id = $2::uuid FOR UPDATE`,
      tenantId,
      id,
    );
    // Related rows are a part of the tag only.
    if (precondition !== undefined) await kind.holdRelated?.(tx, tenantId, id);
    const row = await model(tx).findFirst({
      where: { tenantId, id },
      ...(precondition === undefined ? {} : included),
    });
    if (!row) throw kind.notFound(id);
    if (precondition !== undefined) requirePrecondition(precondition, kind.tagOf(row));
    return row;
  };

  const get = (tenantId: string, id: string): Promise<Row> =>
    db.inTenant(tenantId, async (tx) => {
      const row = await model(tx).findFirst({ where: { tenantId, id }, ...included });
      if (!row) throw kind.notFound(id);
      return row;
    });

  return {
    list: (tenantId, list) =>
      db.inTenant(tenantId, (tx) =>
        findPage(list, {
          selection: { AND: [{ tenantId }, toWhere(list, kind.searchable)] },
          dates: TIMES,
          find: async (page) => {
            const rows = await model(tx).findMany(page);
            return kind.withRelated ? kind.withRelated(tx, tenantId, rows) : rows;
          },
          count: (all) => model(tx).count(all),
        }),
      ),

    get,

    async create(caller, fields) {
      const { tenantId, userId } = caller;
      const newRow = newId();
      const recorded = operationRecorded(caller, { id: newRow });
      let row: Row | undefined;
      const writeRow = () =>
        db.inTenant(
          tenantId,
          async (tx) => {
            quotas[kind.table].take(tenantId);
            const now = clock.now();
            const columns = {
              ...(await kind.columnsOf(tx, tenantId, fields)),
              ...kind.initial,
              id: newRow,
              version: 1,
              createdAt: now,
              createdBy: userId,
              changedAt: now,
              changedBy: userId,
            };
            const changes = [inserted({ tenantId, ...columns }), ...(recorded ? [recorded] : [])];
            await publishSaved(tx, caller, events, [newRow], 'created', changes);
            row = { ...columns, ...kind.relatedOf?.(fields) } as object as Row;
            return { id: newRow };
          },
          'once',
        );
      const { id } = await runUnlessRecorded(db, caller, writeRow).catch((error: unknown) => {
        throw isUniqueViolation(error) ? externalIdTaken(fields.externalId) : error;
      });
      return id === newRow ? row! : get(tenantId, id);
    },

    async update(caller, id, fields, precondition) {
      const { tenantId, userId } = caller;
      let row: Row | undefined;
      await db
        .inTenant(tenantId, (tx) =>
          runOnce(tx, caller, async () => {
            const { version } = await readLocked(tx, caller, id, precondition);
            const columns = await kind.columnsOf(tx, tenantId, fields);
            const written = await model(tx).update({
              where: { tenantId_id: { tenantId, id } },
              data: { ...columns, version: version + 1, changedAt: clock.now(), changedBy: userId },
            });
            await publishSaved(tx, caller, events, [id], 'changed');
            row = { ...written, ...kind.relatedOf?.(fields) };
          }),
        )
        .catch((error: unknown) => {
          throw isUniqueViolation(error) ? externalIdTaken(fields.externalId) : error;
        });
      return row ?? get(tenantId, id);
    },

    delete: (caller, id, precondition) =>
      db.inTenant(caller.tenantId, (tx) =>
        runOnce(tx, caller, async () => {
          const { tenantId } = caller;
          const { externalId } = await readLocked(tx, caller, id, precondition);
          await kind.requireDeletable?.(tx, tenantId, id);
          await model(tx).delete({ where: { tenantId_id: { tenantId, id } } });
          await publishDeleted(tx, caller, events, [{ id, externalId }]);
        }),
      ),
  };
}

/** Inserts a row by the statement of its events, so that a new record takes one round trip. */
function insertionInto(table: string, fields: readonly string[]): (row: Record<string, unknown>) => Sql {
  const names = fields.map(toColumn);
  const [into, columns] = [raw(table), raw(names.join(', '))];
  return (row) => {
    const stored = Object.fromEntries(fields.map((field, place) => [names[place]!, row[field]]));
    return sql`
      INSERT INTO ${into} (${columns}) SELECT ${columns}
      FROM jsonb_populate_record(NULL::${into}, ${JSON.stringify(stored)}::jsonb)
      WHERE ${checkedForValues}`;
  };
}

/** `firstName` is stored as `first_name`. */
const toColumn = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
