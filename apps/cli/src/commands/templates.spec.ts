import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refused, runCommand, type Replies, type Reply } from '../../test/platform-in-memory';
import { ExitCode } from '../exit-codes';
import { addTemplates } from './templates';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-templates-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const revision = (content: string, status = 0) => ({ content, mimeType: 'text/html', status });

/** A platform with this template. */
const holding = (detail: { draft?: object; published?: object }): Replies => ({
  'GET /templates': { body: { items: [{ name: 'welcome' }], nextCursor: null } },
  'GET /templates/welcome': { body: { name: 'welcome', ...detail }, etag: '"1"' },
  'PUT /templates/welcome': { body: {}, etag: '"2"' },
});

/** Pushes a folder in which the template has the content `ours`; returns what was written. */
async function push(words: string[], replies: Replies) {
  const entry = { name: 'welcome', culture: null, category: null, mimeType: 'text/html', file: 'w.html' };
  writeFileSync(join(folder, 'templates.json'), JSON.stringify([entry]));
  writeFileSync(join(folder, 'w.html'), 'ours');
  const { received, error, exitCode } = await runCommand(
    addTemplates,
    ['templates', 'push', folder, ...words],
    replies,
  );
  const writes = received.filter(({ call }) => !call.startsWith('GET'));
  return { error, exitCode, writes: writes.map(({ call, ifMatch }) => [call, ifMatch]) };
}

const publish = 'POST /templates/welcome/publish';

it('plinth templates pull keeps what somebody saves while it reads', async () => {
  // The last one saved is the first; each page has one.
  const saved = ['b', 'a'];
  const detailOf = (name: string): Reply => ({ body: { name, draft: revision(name) }, etag: '"1"' });
  const replies: Replies = {
    'GET /templates': ({ query: { sort, cursor } }) => {
      const [first, second] = sort === 'name' ? saved.toSorted() : saved;
      const name = cursor ? second! : first!;
      return { body: { items: [{ name }], nextCursor: cursor ? null : 'second' } };
    },
    'GET /templates/a': () => detailOf('a'),
    'GET /templates/b': () => detailOf('b'),
  };
  const pull = () => runCommand(addTemplates, ['templates', 'pull', folder], replies);
  const files = () => readdirSync(folder).sort();
  await pull();
  expect(files()).toEqual(['a.html', 'b.html', 'templates.json']);

  for (const name of ['a', 'b'])
    replies[`GET /templates/${name}`] = () => {
      saved.sort((left) => (left === 'a' ? -1 : 1));
      return detailOf(name);
    };
  await pull();

  expect(files()).toEqual(['a.html', 'b.html', 'templates.json']);
});

describe('plinth templates push', () => {
  it('saves over what it read, and publishes what it saved', async () => {
    const { writes } = await push(['--publish'], holding({ draft: revision('former') }));
    expect(writes).toEqual([
      ['PUT /templates/welcome', '"1"'],
      [publish, '"2"'],
    ]);
  });

  it('publishes a draft that is as in the folder, such as after an interruption', async () => {
    const saved = holding({ draft: revision('ours'), published: revision('former') });

    expect((await push(['--publish'], saved)).writes).toEqual([[publish, '"1"']]);
    expect((await push(['--publish', '--dry-run'], saved)).writes).toEqual([]);
    expect((await push([], saved)).writes).toEqual([]);
    expect((await push(['--publish'], holding({ published: revision('ours') }))).writes).toEqual([]);
  });

  it('approves nothing that waits for review', async () => {
    const submitted = holding({ draft: revision('ours', 1), published: revision('former') });

    expect(await push(['--publish'], submitted)).toMatchObject({ writes: [], exitCode: ExitCode.Partly });
  });

  it('overwrites nothing that others saved meanwhile', async () => {
    const { error, writes } = await push(['--publish'], {
      ...holding({ draft: revision('former') }),
      'PUT /templates/welcome': ({ ifMatch }) =>
        ifMatch === undefined ? { body: {} } : refused(412, 'Stale version'),
    });

    expect(error).toMatchObject({ status: 412 });
    expect(writes.map(([call]) => call)).toEqual(['PUT /templates/welcome']);
  });

  it('makes what the tenant does not have, and takes an archived template up again', async () => {
    const without = {
      'GET /templates': { body: { items: [], nextCursor: null } },
      'POST /templates': { status: 201, body: {}, etag: '"1"' },
    };

    expect((await push(['--publish'], without)).writes).toEqual([
      ['POST /templates', undefined],
      [publish, '"1"'],
    ]);
    expect((await push([], holding({}))).writes).toEqual([['PUT /templates/welcome', '"1"']]);
  });
});
