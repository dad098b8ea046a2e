import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { rowMessage } from '@plinth/exchange/row-message';
import { EventLoopTurns, FairPlaces } from '@plinth/runtime/process/fair-places';
import { eventually } from '@plinth/testing/eventually';
import type { FailedRowWithCells } from '../domain/failed-row';
import type { FailedRowPage, FailedRowStore } from '../store/failed-row-store';
import type { ImportJob } from '../store/import-store';
import { openCorrectionFile } from './open-correction-file';

const CELL_BYTES = 16 * 1024;
/** No compression makes them much smaller. */
const cell = (): string => randomBytes((CELL_BYTES * 3) / 4).toString('base64');
const ROWS = 100_000;
const texts = { culture: 'en', byKey: {} };
const correctionPlaces = (places: number): FairPlaces =>
  new FairPlaces({ places, waitingMax: 10, refused: (scope) => new Error(scope) });
const turns = new EventLoopTurns();
const owner = { tenantId: 'acme', userId: 'ada' };

const job = (kind: 'csv' | 'xlsx') =>
  ({
    tenantId: owner.tenantId,
    id: 'job',
    originalFileName: 'people.csv',
    headers: ['name'],
    format:
      kind === 'xlsx'
        ? { kind, sheets: ['People'] }
        : { kind, encoding: 'utf-8', hasByteOrderMark: false, delimiter: ',' },
  }) as unknown as ImportJob;

/** An import of very many long rows, all of which failed. */
function longRows() {
  let bytesRead = 0;
  const row = (rowNumber: number): FailedRowWithCells => ({
    rowNumber,
    kind: 'Validation',
    details: [],
    cells: [cell()],
  });
  const list = async (_tenantId: string, _jobId: string, page: FailedRowPage) => {
    const count = Math.min(page.take, Math.floor(page.bytesMax / CELL_BYTES), ROWS - page.after);
    bytesRead += count * CELL_BYTES;
    return Array.from({ length: count }, (_, index) => row(page.after + index + 1));
  };
  const failedRows = { list } as unknown as FailedRowStore;
  return { failedRows, bytesRead: () => bytesRead };
}

/** Waits until nothing more is read. */
const settled = async (bytesRead: () => number): Promise<void> => {
  for (let before = -1; before !== bytesRead();) {
    before = bytesRead();
    await pause(50);
  }
};

describe('a correction file', () => {
  it.each(['csv', 'xlsx'] as const)(
    'of %s holds little in memory while its client does not read',
    async (kind) => {
      const { failedRows, bytesRead } = longRows();
      const file = await openCorrectionFile(failedRows, job(kind), texts, {
        owner,
        turns,
        places: correctionPlaces(1),
      });
      file!.content.read(0);
      await settled(bytesRead);
      expect(bytesRead()).toBeLessThan(2 * 1024 * 1024);
      file!.content.destroy();
    },
  );

  it('has few errors of a page in the words of a tenant where those are very long, and some of each page', async () => {
    const row = (rowNumber: number): FailedRowWithCells => ({
      rowNumber,
      kind: 'Validation',
      details: [{ column: 'name', value: '', code: 'NotEmpty', message: '', text: rowMessage('notEmpty') }],
      cells: [''],
    });
    const pages = [0, 1_000, 2_000].map((first) =>
      Array.from({ length: 1_000 }, (_, index) => row(first + index + 1)),
    );
    const list = async (_tenantId: string, _jobId: string, { after, take }: FailedRowPage) =>
      take === 1 ? [row(1)] : (pages[after / 1_000] ?? []);
    const words = `{0} ${'é'.repeat(3_900)}`;
    const file = await openCorrectionFile(
      { list } as unknown as FailedRowStore,
      job('csv'),
      { culture: 'fr', byKey: { 'rowErrors.notEmpty': words } },
      { owner, turns, places: correctionPlaces(1) },
    );
    const content = await text(file!.content);
    const lines = content.split('\r\n');
    expect(content.length).toBeLessThan(1024 * 1024);
    for (const first of [1, 1_001, 2_001]) {
      expect(lines[first]).toContain(words.replace('{0}', 'name'));
      expect(lines[first + 999]).toContain('name must not be empty.');
    }
  });

  it.each(['csv', 'xlsx'] as const)('of %s gives its place back when its client leaves', async (kind) => {
    const { failedRows, bytesRead } = longRows();
    const places = correctionPlaces(4);
    const open = () => openCorrectionFile(failedRows, job(kind), texts, { owner, turns, places });
    const [first, second] = await Promise.all([open(), open()]);
    // The other two are for other tenants.
    const third = open();
    for (const file of [first, second]) file!.content.on('error', () => undefined).read(0);
    await eventually(() => bytesRead() > 0 && places.waitingCount === 1);
    expect(places.runningCount).toBe(2);
    first!.content.destroy();
    (await third)!.content.on('error', () => undefined).destroy();
    second!.content.destroy();
    await eventually(() => places.runningCount === 0);
  });

  it.each(['csv', 'xlsx'] as const)(
    'of %s gives its place back when nobody reads it for long',
    async (kind) => {
      const { failedRows } = longRows();
      const places = correctionPlaces(1);
      const file = await openCorrectionFile(failedRows, job(kind), texts, {
        owner,
        turns,
        places,
        unreadMillisecondsMax: 1,
      });
      file!.content.read(0);
      const [error] = (await once(file!.content, 'error')) as [Error];
      expect(error.message).toContain('Nothing of the correction file was read');
      await eventually(() => places.runningCount === 0);
    },
  );
});
