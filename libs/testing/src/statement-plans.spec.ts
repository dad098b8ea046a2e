import { BATCH_ROWS } from './exchange-plans';
import { excessiveOf, type TableRead } from './statement-plans';

const read = (more: Partial<TableRead>): TableRead => ({
  plans: 'stale, custom',
  statement: 'SELECT 1 FROM company WHERE tenant_id = $1 AND external_id = ANY ($2)',
  table: 'company',
  access: 'Index Scan company_external_id',
  rows: BATCH_ROWS,
  pages: 6 * BATCH_ROWS,
  ...more,
});

describe('what reads more than it needs', () => {
  it('is not what finds each row by its place in an index', () => {
    expect(excessiveOf([read({})], BATCH_ROWS)).toEqual([]);
  });

  it('is what finds as many rows in a walk through an index of 20,000, measured for one whose later column is the key', () => {
    const walk = read({ access: 'Index Scan company_newest', pages: 167 });
    expect(excessiveOf([read({}), walk], BATCH_ROWS)).toEqual([walk]);
  });

  it('is what reads rows that nobody asked for', () => {
    const many = read({ rows: 5 * BATCH_ROWS });
    expect(excessiveOf([many], BATCH_ROWS)).toEqual([many]);
  });
});
