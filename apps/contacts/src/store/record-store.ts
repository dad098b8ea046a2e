import type { CursorKey } from '@plinth/conventions/cursor';
import type { ListRequest } from '@plinth/conventions/paging';
import { findPage, toWhere } from '@plinth/conventions/prisma-list';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { entityTag, requireMatch, type IfMatch } from '@plinth/kernel/entity-tag';
import { newId } from '@plinth/kernel/uuid';
import type { OutboxRelay } from '@plinth/runtime/outbox';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres';
import type { Problem } from '@plinth/kernel/problem';
import { externalIdTaken } from '../domain/problems';
import { tellDeleted, tellSaved, type Facts } from '../events/told';
import type { Prisma } from '../generated/client';

type Tx = Prisma.TransactionClient;

/** What every row kept here has. */
interface Kept {
  id: string;
  externalId: string;
  version: number;
  createdAt: Date;
  changedAt: Date;
}

/** The part of a Prisma model that is used here, whichever model it is. */
export interface Model<Row> {
  findMany(query: object): Promise<Row[]>;
  findFirst(query: object): Promise<Row | null>;
  count(query: object): Promise<number>;
  create(query: object): Promise<Row>;
  update(query: object): Promise<Row>;
  delete(query: object): Promise<Row>;
}

/** How one kind of record differs from the other. */
export interface RecordKind<Row, Fields> {
  table: 'contact' | 'company';
  facts: Facts;
  searchable: readonly string[];
  model(tx: Tx): Model<Row>;
  /** Related rows that an answer shows. */
  include?: object;
  /** What is stored of a request. */
  columnsOf(tx: Tx, tenantId: string, fields: Fields): Promise<object>;
  requireDeletable?(tx: Tx, tenantId: string, id: string): Promise<void>;
  notFound(id: string): Problem;
}

export interface RecordStore<Row, Fields> {
  list(tenantId: string, list: ListRequest): Promise<{ rows: Row[]; totalCount: number | null }>;
  get(tenantId: string, id: string): Promise<Row>;
  /** A repeated operation finds what it made the first time. */
  create(caller: Caller, fields: Fields): Promise<Row>;
  update(caller: Caller, id: string, fields: Fields, ifMatch: IfMatch): Promise<Row>;
  delete(caller: Caller, id: string, ifMatch: IfMatch): Promise<void>;
}

export interface StoreParts {
  db: TenantDatabase<Tx>;
  outbox: Pick<OutboxRelay, 'wake'>;
  clock: Clock;
}

const TIMES = ['createdAt', 'changedAt'];

/** Keeps records of one kind; who changes one takes its turn. */
export function recordStore<Row extends Kept, Fields extends { externalId: string }>(
  kind: RecordKind<Row, Fields>,
  { db, outbox, clock }: StoreParts,
): RecordStore<Row, Fields> {
  const { model, facts } = kind;
  const shown = kind.include ? { include: kind.include } : {};

  /** The row as it is now, kept from changing until the end of the transaction. */
  const take = async (tx: Tx, { tenantId }: Caller, id: string, ifMatch: IfMatch): Promise<Row> => {
    await tx.$queryRawUnsafe(
      `SELECT id FROM ${kind.table} WHERE tenant_id = $1::uuid AND id = $2::uuid FOR UPDATE`,
      tenantId,
      id,
    );
    const row = await model(tx).findFirst({ where: { tenantId, id } });
    if (!row) throw kind.notFound(id);
    requireMatch(ifMatch, tagOf(row));
    return row;
  };

  const change = async <Result>(caller: Caller, work: (tx: Tx) => Promise<Result>): Promise<Result> => {
    const result = await db.inTenant(caller.tenantId, work);
    outbox.wake();
    return result;
  };

  return {
    list: (tenantId, list) =>
      db.inTenant(tenantId, (tx) =>
        findPage(list, {
          selection: { AND: [{ tenantId }, toWhere(list, kind.searchable)] },
          dates: TIMES,
          find: (page) => model(tx).findMany({ ...page, ...shown }),
          count: (all) => model(tx).count(all),
        }),
      ),

    get: (tenantId, id) =>
      db.inTenant(tenantId, async (tx) => {
        const row = await model(tx).findFirst({ where: { tenantId, id }, ...shown });
        if (!row) throw kind.notFound(id);
        return row;
      }),

    async create(caller, fields) {
      const { tenantId, userId, operationId } = caller;
      const making = change(caller, async (tx) => {
        const now = clock.now();
        const row = await model(tx).create({
          data: {
            ...(await kind.columnsOf(tx, tenantId, fields)),
            tenantId,
            id: newId(),
            operationId: operationId ?? null,
            createdAt: now,
            createdBy: userId,
            changedAt: now,
            changedBy: userId,
          },
          ...shown,
        });
        await tellSaved(tx, caller, facts, [row.id], 'created');
        return row;
      });
      return making.catch(async (error: unknown) => {
        if (!isUniqueViolation(error)) throw error;
        const first =
          operationId &&
          (await db.inTenant(tenantId, (tx) =>
            model(tx).findFirst({ where: { tenantId, operationId }, ...shown }),
          ));
        if (first) return first;
        throw externalIdTaken(fields.externalId);
      });
    },

    update: (caller, id, fields, ifMatch) =>
      change(caller, async (tx) => {
        const { tenantId, userId } = caller;
        const { version } = await take(tx, caller, id, ifMatch);
        const columns = await kind.columnsOf(tx, tenantId, fields);
        const row = await model(tx).update({
          where: { tenantId_id: { tenantId, id } },
          data: { ...columns, version: version + 1, changedAt: clock.now(), changedBy: userId },
          ...shown,
        });
        await tellSaved(tx, caller, facts, [id], 'changed');
        return row;
      }).catch((error: unknown) => {
        throw isUniqueViolation(error) ? externalIdTaken(fields.externalId) : error;
      }),

    delete: (caller, id, ifMatch) =>
      change(caller, async (tx) => {
        const { tenantId } = caller;
        const { externalId } = await take(tx, caller, id, ifMatch);
        await kind.requireDeletable?.(tx, tenantId, id);
        await model(tx).delete({ where: { tenantId_id: { tenantId, id } } });
        await tellDeleted(tx, caller, facts, [{ id, externalId }]);
      }),
  };
}

export const tagOf = ({ version }: Pick<Kept, 'version'>): string => entityTag(version);

/** Where a row stands in the order of a list. */
export const keyOf =
  ({ sort }: Pick<ListRequest, 'sort'>) =>
  (row: Kept): CursorKey => [
    ...sort.map(({ field }) => {
      const value = row[field as keyof Kept];
      return value instanceof Date ? value.toISOString() : value;
    }),
    row.id,
  ];

/** A day as it travels. */
export const dayOf = (date: Date | null): string | null => date?.toISOString().slice(0, 10) ?? null;
