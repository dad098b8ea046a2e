import { sql } from './raw-statements';

/**
 * A condition that always holds, for a statement that inserts in a transaction whose statements are planned once: the
 * checks of its foreign keys, which follow it, are planned for their values. A plan for them that was made while the other
 * table had few rows may look through all of them in an index that is not theirs, until Postgres analyses that table.
 */
export const checkedForValues = sql`set_config('plan_cache_mode', 'force_custom_plan', true) IS NOT NULL`;
