import { DatabaseError } from 'pg';
import { createLog } from './log';

describe('a log', () => {
  const lines: string[] = [];
  const log = createLog({ LOG_LEVEL: 'info' }, 'contacts', { write: (line) => void lines.push(line) });
  const written = (error: Error): string => {
    lines.length = 0;
    log.error({ err: error }, 'a defect');
    return lines.join('');
  };
  const row = 'Failing row contains (1, Lovelace, ada@example.com).';

  it('names what Postgres refused, without the values of the row', () => {
    const error = Object.assign(new DatabaseError('violates check constraint', 0, 'error'), {
      code: '23514',
      constraint: 'contact_channel_check',
      detail: row,
      where: 'COPY contact, line 1: "Lovelace,ada@example.com"',
    });

    const line = written(error);

    expect(line).not.toContain('Lovelace');
    expect(JSON.parse(line)).toMatchObject({
      err: { message: 'violates check constraint', code: '23514', constraint: 'contact_channel_check' },
      process: 'contacts',
    });
  });

  it('does so where Prisma stands between', () => {
    const cause = { kind: 'postgres', code: '23514', message: 'violates check constraint', detail: row };
    const error = Object.assign(new Error('Raw query failed.'), { meta: { driverAdapterError: { cause } } });

    const line = written(error);

    expect(line).not.toContain('Lovelace');
    expect(line).toContain('23514');
  });
});
