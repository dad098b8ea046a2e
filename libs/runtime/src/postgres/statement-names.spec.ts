import { setImmediate as turn } from 'node:timers/promises';
import { statementNames, withoutStatementNames } from './statement-names';

describe('names of prepared statements', () => {
  it('are the same for the same text', () => {
    const nameOf = statementNames('plinth');
    expect([nameOf('SELECT 1'), nameOf('SELECT 2'), nameOf('SELECT 1')]).toEqual([
      'plinth_1',
      'plinth_2',
      'plinth_1',
    ]);
  });

  it('are not taken by texts that do not come again', () => {
    const nameOf = statementNames('plinth', (text) => !text.includes('IN'));
    for (let count = 0; count < 500; count++) expect(nameOf(`SELECT 1 IN (${count})`)).toBeUndefined();
    expect(nameOf('SELECT 1')).toBe('plinth_1');
  });

  it('are not taken by what callers shape', async () => {
    const nameOf = statementNames('plinth');
    await withoutStatementNames(async () => {
      await turn();
      for (let count = 0; count < 500; count++) expect(nameOf(`SELECT ${count}`)).toBeUndefined();
    });
    expect(nameOf('SELECT 1')).toBe('plinth_1');
  });

  it('have a limit', () => {
    const nameOf = statementNames('plinth');
    const names = Array.from({ length: 500 }, (_, index) => nameOf(`SELECT ${index}`));
    expect(names.filter(Boolean)).toHaveLength(300);
    expect(nameOf('SELECT 0')).toBe('plinth_1');
  });
});
