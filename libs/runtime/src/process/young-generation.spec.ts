import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const FILE = pathToFileURL(join(__dirname, 'young-generation.ts')).href;

/** Allocates in one place of the code what survives many collections; V8 writes what it concludes from that. */
const ALLOCATE = `
  const kept = [];
  const allocate = (value) => [{ value }, [value, {}]];
  for (let index = 0; index < 200000; index++) kept.push(allocate(index));
`;

async function pretenured(prepare: string): Promise<boolean> {
  const script = `import(${JSON.stringify(FILE)}).then(({ allocateYoung }) => { ${prepare}; ${ALLOCATE} })`;
  const flags = [
    '--trace-pretenuring-statistics',
    '--max-semi-space-size=1',
    '--disable-warning=ExperimentalWarning',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', script]);
  return stdout.includes('=> tenure');
}

describe('a process that serves requests', () => {
  it('allocates nothing in the old generation because others of its kind have survived', async () => {
    expect(await Promise.all([pretenured(''), pretenured('allocateYoung()')])).toEqual([true, false]);
  });
});
