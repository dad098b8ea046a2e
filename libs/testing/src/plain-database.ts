import { rawStatements } from '@plinth/runtime/postgres/raw-statements';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Pool } from 'pg';

/** A service's database without Prisma, entered as services enter theirs. */
export function plainDatabase(pool: Pool): TenantDatabase<RawStatements> {
  const within = async <Result>(
    setting: string,
    value: string,
    work: (tx: RawStatements) => Promise<Result>,
  ): Promise<Result> => {
    const connection = await pool.connect();
    try {
      await connection.query('BEGIN');
      await connection.query('SELECT set_config($1, $2, true)', [setting, value]);
      const result = await work(rawStatements(connection));
      await connection.query('COMMIT');
      return result;
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  };
  return {
    inTenant: (tenantId, work) => within('plinth.tenant_id', tenantId, work),
    inPlatform: (work) => within('plinth.scope', 'platform', work),
  };
}
