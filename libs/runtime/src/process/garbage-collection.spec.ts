import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const FILE = pathToFileURL(join(__dirname, 'garbage-collection.ts')).href;

/** Allocates in one place of the code what survives many collections; V8 writes what it concludes from that. */
const ALLOCATE = `
  const kept = [];
  const allocate = (value) => [{ value }, [value, {}]];
  for (let index = 0; index < 200000; index++) kept.push(allocate(index));
`;

/** Has a heap as that of a service, and buffers of a gigabyte that are needed for some turns of the event loop. */
const BUFFER = `
  globalThis.kept = [];
  for (let index = 0; index < 300000; index++) kept.push([index, {}]);
  const recent = [];
  for (let count = 0; count < 16000; count++) {
    recent[count % 32] = Buffer.from(new ArrayBuffer(64 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
  }
`;

/** What V8 writes of a process that does this. */
async function run(prepare: string, program: string, ...flags: string[]): Promise<string> {
  const script = `import(${JSON.stringify(FILE)}).then(async (collection) => { ${prepare}; ${program} })`;
  const args = [...flags, '--disable-warning=ExperimentalWarning', '--eval', script];
  return (await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })).stdout;
}

async function pretenured(prepare: string): Promise<boolean> {
  const trace = await run(prepare, ALLOCATE, '--trace-pretenuring-statistics', '--max-semi-space-size=1');
  return trace.includes('=> tenure');
}

/**
 * Whatever the machine is and does meanwhile: its memory decides on the limit of a heap, and marking beside the program
 * begins sooner the slower it was before.
 */
const SAME_EVERYWHERE = ['--max-old-space-size=1024', '--no-incremental-marking', '--single-threaded-gc'];

async function countFullCollections(prepare: string): Promise<number> {
  const trace = await run(prepare, BUFFER, '--trace-gc', ...SAME_EVERYWHERE);
  return trace.match(/Mark-Compact/g)?.length ?? 0;
}

/** Uses 400 MB of buffers in pieces, each for a turn of the event loop, and writes how many were there at once. */
const STREAM = `
  let atOnce = 0;
  for (let count = 0; count < 6400; count++) {
    const piece = Buffer.from(new ArrayBuffer(64 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
    used?.(piece.length);
    atOnce = Math.max(atOnce, process.memoryUsage().arrayBuffers);
  }
  process.stdout.write(String(atOnce));
`;

const bytesAtOnce = async (prepare: string): Promise<number> =>
  Number(await run(prepare, STREAM, '--max-semi-space-size=4', ...SAME_EVERYWHERE));

describe('a process that streams', () => {
  it('holds few of the buffers that it no longer needs', async () => {
    const before = await bytesAtOnce('const used = undefined');
    const now = await bytesAtOnce(`const used = collection.collectBuffersEvery(${8_000_000})`);
    expect(now / before).toBeLessThan(0.7);
  });
});

describe('a process that serves requests', () => {
  it('allocates nothing in the old generation because others of its kind have survived', async () => {
    expect(await Promise.all([pretenured(''), pretenured('collection.allocateYoung()')])).toEqual([
      true,
      false,
    ]);
  });

  it('collects everything rarely, however many buffers it has used', async () => {
    const before = await countFullCollections('');
    const now = await countFullCollections('collection.limitBuffersWithHeap()');
    expect(now).toBeLessThan(before / 2);
  });
});
