import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import { backgroundTask, type BackgroundTask } from '../process/background-task';
import type { Log } from '../process/log';
import { problemOfDatabase, type RawStatements, type TenantDatabase } from './postgres';
import { send, sql, type Sql } from './raw-statements';

/** Longer than the gateway stores any response under its idempotency key. */
const RETENTION_DAYS = 7;
const DELETED_MAX = 10_000;
const CLEANUP_MILLISECONDS = 3_600_000;

const RESULT_BYTES_MAX = 8_192;

export type Operation = Pick<Caller, 'tenantId' | 'operationId' | 'operationBodyHash'>;

/**
 * Runs an effect once for an operation, in the transaction of the effect: a retry finds the result of the first run. The
 * operation is recorded before its effect, so that a retry beside the first run waits for it here. Without an operation
 * id the effect always runs. The result consists of JSON; an effect that throws may be retried. A result that is known
 * before its effect is recorded with the operation, which saves a statement.
 * @throws RangeError where the result is more than 8 kB as JSON: results are kept for a week, and no quota counts them
 * @throws Problem `idempotency-payload-mismatch` where the operation was executed with another body
 */
export async function runOnce<Result>(
  tx: RawStatements,
  operation: Operation,
  effect: () => Promise<Result>,
  known?: Result,
): Promise<Result> {
  const { tenantId, operationId } = operation;
  if (operationId === undefined) return effect();
  const isFirst = await tx.$executeRawUnsafe(
    `INSERT INTO executed_operation (tenant_id, operation_id, body_hash, result) VALUES ($1::uuid, $2, $3, $4::jsonb)
     ON CONFLICT DO NOTHING`,
    tenantId,
    operationId,
    operation.operationBodyHash ?? null,
    jsonOf(known ?? null),
  );
  if (!isFirst) return (await findOperation<Result>(tx, operation))!.result;
  const result = await effect();
  if (result !== undefined && known === undefined) {
    await send(
      tx,
      'UPDATE executed_operation SET result = $3::jsonb WHERE tenant_id = $1::uuid AND operation_id = $2',
      tenantId,
      operationId,
      jsonOf(result),
    );
  }
  return result;
}

/**
 * Records the operation of a batch before its items, which are operations of their own: otherwise each would be compared
 * with the item of the first batch only, and those that the first batch did not have would be executed.
 * @throws Problem `idempotency-payload-mismatch` where the first batch had another body
 */
export async function recordBatch(
  db: Pick<TenantDatabase<RawStatements>, 'inTenant'>,
  operation: Operation,
): Promise<void> {
  if (operation.operationId === undefined) return;
  await db.inTenant(operation.tenantId, (tx) => runOnce(tx, operation, async () => null, null), 'once');
}

/**
 * The result of an operation that was executed before. `runOnce` looks it up itself.
 * @throws Problem `idempotency-payload-mismatch` where it was executed with another body
 */
export async function findOperation<Result>(
  tx: RawStatements,
  operation: Operation,
): Promise<{ result: Result } | undefined> {
  const { tenantId, operationId } = operation;
  if (operationId === undefined) return undefined;
  const rows = await tx.$queryRawUnsafe<ExecutedOperation<Result>[]>(
    `SELECT result, body_hash AS "bodyHash" FROM executed_operation
     WHERE tenant_id = $1::uuid AND operation_id = $2`,
    tenantId,
    operationId,
  );
  const [executed] = rows;
  if (executed) requireSameBody(operation, executed);
  return executed;
}

/** An operation as it is stored; versions before stored no hash. */
export interface ExecutedOperation<Result> {
  result: Result;
  bodyHash: string | null;
}

/**
 * Refuses what is no retry of an operation but another request with its idempotency key, which the gateway cannot tell
 * once it does not remember the first one: its response was lost, or is too old.
 * @throws Problem `idempotency-payload-mismatch`
 */
export function requireSameBody(
  { operationBodyHash }: Pick<Operation, 'operationBodyHash'>,
  { bodyHash }: Pick<ExecutedOperation<unknown>, 'bodyHash'>,
): void {
  if (operationBodyHash === undefined || bodyHash === null || operationBodyHash === bodyHash) return;
  throw payloadMismatch();
}

/** The problem of a request that has the idempotency key of another one. */
export const payloadMismatch = (): Problem =>
  new Problem(
    'invalid',
    'The payload does not match the payload of the first request with this idempotency key.',
    { slug: 'idempotency-payload-mismatch', title: 'Payload does not match' },
  );

/**
 * Runs an effect once for an operation without looking first whether it ran before. Its result is known before it, so it
 * records the operation with what it writes (`operationRecorded`), so that it costs no round trip of its own, and fails
 * where the operation is recorded already. Only then it is looked up: a retry finds the result of the first run, also where
 * it is refused for what the first run was not, and one beside the first run waits for it at the record.
 * @throws Problem `idempotency-payload-mismatch` where the operation was executed with another body
 * @param effect a transaction of its own
 */
export async function runUnlessRecorded<Result>(
  db: Pick<TenantDatabase<RawStatements>, 'inTenant'>,
  operation: Operation,
  effect: () => Promise<Result>,
): Promise<Result> {
  try {
    return await effect();
  } catch (error) {
    // A database that is busy or away says nothing of the operation, and is not asked once more.
    if (operation.operationId === undefined || problemOfDatabase(error)) throw error;
    const find = (tx: RawStatements) => findOperation<Result>(tx, operation);
    const executed = await db.inTenant(operation.tenantId, find, 'once');
    if (!executed) throw error;
    return executed.result;
  }
}

/**
 * Records an operation in the transaction of its effect, for effects that only turn out to be one while they run: a
 * compare-and-set that may lose, a change that may find nothing to change. All others use `runOnce`, or
 * `runUnlessRecorded` where its result is known before.
 * @throws a unique violation where it was recorded before, at the end of the transaction at the latest
 * @throws RangeError where the result is more than 8 kB as JSON
 */
export async function recordOperation(
  tx: RawStatements,
  operation: Operation,
  result: unknown,
): Promise<void> {
  const recorded = operationRecorded(operation, result);
  if (recorded) await send(tx, recorded);
}

/** The same as a part of the statement that is the effect, under a condition; undefined without an operation id. */
export const operationRecorded = (
  { tenantId, operationId, operationBodyHash }: Operation,
  result: unknown,
  where = sql`true`,
): Sql | undefined =>
  operationId === undefined
    ? undefined
    : sql`
      INSERT INTO executed_operation (tenant_id, operation_id, body_hash, result)
      SELECT ${tenantId}::uuid, ${operationId}, ${operationBodyHash ?? null}, ${jsonOf(result)}::jsonb
      WHERE ${where}`;

/** @throws RangeError where it is too large, which is a bug of whoever made it */
function jsonOf(result: unknown): string | undefined {
  const json = JSON.stringify(result) as string | undefined;
  if (json !== undefined && Buffer.byteLength(json) > RESULT_BYTES_MAX)
    throw new RangeError(`The result of an operation is more than ${RESULT_BYTES_MAX} bytes.`);
  return json;
}

/** Deletes operations that are too old to be retried, for as long as the process lives. */
export const startOperationCleanup = (db: TenantDatabase<RawStatements>, log: Log): BackgroundTask =>
  backgroundTask(async () => (await deleteExpiredOperations(db)) === DELETED_MAX, {
    name: 'operation cleanup',
    intervalMilliseconds: CLEANUP_MILLISECONDS,
    log,
  });

/** Deletes the oldest operations of all tenants that are past their retention; returns how many. */
export const deleteExpiredOperations = (db: TenantDatabase<RawStatements>): Promise<number> =>
  db.inPlatform((tx) =>
    tx.$executeRawUnsafe(
      `DELETE FROM executed_operation WHERE (tenant_id, operation_id) IN (
         SELECT tenant_id, operation_id FROM executed_operation
         WHERE executed_at < now() - interval '${RETENTION_DAYS} days' LIMIT ${DELETED_MAX})`,
    ),
  );
