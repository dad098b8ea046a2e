import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';

/** Stands for the database of a service in which no tenant has a row of what a quota counts. */
export const databaseWithoutRows = {
  inTenant: (_tenantId: string, work: (tx: never) => Promise<unknown>) =>
    work({ $queryRawUnsafe: async () => [{ rows: 0 }] } as never),
} as unknown as Pick<TenantDatabase<RawStatements>, 'inTenant'>;
