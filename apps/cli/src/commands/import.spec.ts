import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refused, runCommand, type Replies, type Reply } from '../../test/platform-in-memory';
import { ExitCode } from '../exit-codes';
import { addImport } from './import';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-import-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const report = (finalStatus: string) => ({
  body: {
    finalStatus,
    errorMessage: null,
    rowErrors: [],
    ...{ totalRows: 1, succeededRows: 1, insertedRows: 1, updatedRows: 0, failedRows: 0, skippedRows: 0 },
  },
});

const platform: Replies = {
  'POST /imports': { status: 201, body: { id: '1' } },
  'POST /imports/1/preview': {
    body: { headers: ['Name'], suggestions: [], previewRows: [], findings: [] },
  },
  'POST /imports/1/dry-run': report('Completed'),
  'POST /imports/1/execute': { status: 202, body: { id: '1' } },
  'GET /imports/1/events': { body: 'event: end\ndata: {"rowsDone":1,"rowsFailed":0,"rowsPerSecond":1}\n\n' },
  'GET /imports/1': { body: { id: '1', status: 'Mapped' } },
  'GET /imports/1/report': report('Completed'),
};

async function importFile(words: string[], replies: Replies = {}) {
  const file = join(folder, 'companies.csv');
  writeFileSync(file, 'Name\nAda\n');
  const command = ['import', file, '--definition', 'Contacts.Companies', ...words];
  const { received, ...ended } = await runCommand(addImport, command, { ...platform, ...replies });
  return { ...ended, received, isRemoved: received.some(({ call }) => call === 'DELETE /imports/1') };
}

const options = ['--mode', 'update', '--on-error', 'abort', '--sheet', 'Second'];

describe('plinth import', () => {
  it.each([
    ['checks in a dry-run', ['--dry-run'], 'POST /imports/1/dry-run', true],
    ['imports', [], 'POST /imports/1/execute', false],
  ])('%s the sheet, in the mode, that the caller names', async (_what, words, call, isRemoved) => {
    const ended = await importFile([...options, ...words]);

    expect(ended.received.find((one) => one.call === call)?.body).toEqual({
      mode: 'update',
      onError: 'abort',
      sheet: 'Second',
    });
    expect(ended).toMatchObject({ error: undefined, exitCode: undefined, isRemoved });
  });

  it('confirms the columns that were shown and imports what was confirmed, and nothing that somebody chose since', async () => {
    const preview = platform['POST /imports/1/preview'] as Reply;
    const { received } = await importFile([], {
      'POST /imports/1/preview': { ...preview, etag: '"1"' },
      'PUT /imports/1/mappings': { etag: '"2"' },
    });
    const conditions = received.flatMap(({ call, ifMatch }) => (ifMatch ? [`${call} ${ifMatch}`] : []));
    expect(conditions).toEqual(['PUT /imports/1/mappings "1"', 'POST /imports/1/execute "2"']);
  });

  it.each([
    ['dry-run', ['--dry-run'], refused(422, 'File unreadable')],
    ['execute', [], refused(422, 'File unreadable')],
    ['execute', [], refused(409, 'Changed meanwhile', 'stale-version')],
  ])('leaves no upload behind where %s is refused', async (step, words, refusal) => {
    const { error, isRemoved } = await importFile(words, { [`POST /imports/1/${step}`]: refusal });

    expect(error).toMatchObject({ status: refusal.status });
    expect(isRemoved).toBe(true);
  });

  it.each([
    [409, 'Somebody else started it'],
    [503, 'Unavailable'],
  ])('cancels no import that may run: %i', async (status, title) => {
    const { error, isRemoved } = await importFile([], { 'POST /imports/1/execute': refused(status, title) });

    expect(error).toMatchObject({ status });
    expect(isRemoved).toBe(false);
  });

  it.each([
    ['the columns are confirmed', [], { 'PUT /imports/1/mappings': refused(409, 'It runs already') }],
    ['it is checked', ['--dry-run'], {}],
  ])('leaves the import to a colleague who executed it before %s', async (_when, words, replies) => {
    const { isRemoved } = await importFile(words, {
      ...replies,
      'GET /imports/1': { body: { id: '1', status: 'Executing' } },
    });

    expect(isRemoved).toBe(false);
  });

  it('says that an import goes on whose progress cannot be followed', async () => {
    const { error, isRemoved } = await importFile([], {
      'GET /imports/1/events': refused(503, 'Unavailable'),
    });

    expect(error).toMatchObject({
      message: 'The import 1 goes on without this command; do not start it again.',
      cause: { status: 503 },
    });
    expect(isRemoved).toBe(false);
  });

  it('writes rows to correct beside those that somebody corrects already', async () => {
    const correcting = join(folder, 'companies.errors.csv');
    writeFileSync(correcting, 'corrected by hand');
    writeFileSync(join(folder, 'companies.errors-2.csv'), 'corrected by hand, too');

    const { error } = await importFile([], { 'GET /imports/1/correction-file': { body: 'Name\nAda\n' } });

    expect(error).toBeUndefined();
    expect(readFileSync(correcting, 'utf8')).toBe('corrected by hand');
    expect(readFileSync(join(folder, 'companies.errors-2.csv'), 'utf8')).toBe('corrected by hand, too');
    expect(readFileSync(join(folder, 'companies.errors-3.csv'), 'utf8')).toBe('Name\nAda\n');
  });

  it('ends with 6 where the import was cancelled', async () => {
    const { exitCode, isRemoved } = await importFile([], { 'GET /imports/1/report': report('Cancelled') });

    expect(exitCode).toBe(ExitCode.Partly);
    expect(isRemoved).toBe(false);
  });
});
