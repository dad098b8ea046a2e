import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';

type Execute = (...values: unknown[]) => Promise<unknown>;

/**
 * A database whose transactions of tenants are interrupted once: behind the first statement of a kind, something else is
 * done, before the next statement.
 * @param kind `model.operation` of Prisma, or the name of a function for raw statements
 */
export function interruptedDatabase<Tx extends RawStatements>(
  db: TenantDatabase<Tx>,
  kind: string,
  meanwhile: () => Promise<unknown>,
): TenantDatabase<Tx> {
  let isInterrupted = false;
  const interrupting =
    (execute: Execute): Execute =>
    async (...values) => {
      const result = await execute(...values);
      if (!isInterrupted) {
        isInterrupted = true;
        await meanwhile();
      }
      return result;
    };
  const within = <Part extends object>(part: Part, [name, ...rest]: string[]): Part =>
    new Proxy(part, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (property !== name) return value;
        return rest.length === 0 ? interrupting(value as Execute) : within(value as object, rest);
      },
    });
  return {
    ...db,
    inTenant: (tenantId, work, planning) =>
      db.inTenant(tenantId, (tx) => work(within(tx, kind.split('.'))), planning),
  };
}
