import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startJourney, type Journey } from './platform';

const root = join(__dirname, '../../..');
const runFile = promisify(execFile);

/** Every hundredth row has an error, so each of the five kinds occurs six times. */
const ROWS = 3_000;

describe('a file of translations on the whole platform', () => {
  let journey: Journey;

  beforeAll(async () => {
    journey = await startJourney();
  });

  const demo = async (): Promise<string> => {
    const script = join(root, 'tools/development/demo/demo.ts');
    const { stdout } = await runFile(join(root, 'node_modules/.bin/node'), [script, '--rows', String(ROWS)], {
      cwd: root,
      env: { ...process.env, PLINTH_URL: journey.url },
    });
    return stdout;
  };

  it('is exported as it was imported, and updates rows when it is imported again', async () => {
    expect(await demo()).toContain('3,000 inserted, 0 updated');
    expect(await demo()).toContain('0 inserted, 3,000 updated');
  });

  it('is refused with a problem when it is not a file of translations', async () => {
    const token = await journey.tokenOf({ tenantId: '01900000-0000-7000-8000-00000000d301' });
    const form = new FormData();
    form.append('file', new Blob(['%PDF-1.7']), 'a.csv');
    form.append('definitionName', 'Localization.Overrides');
    const response = await fetch(`${journey.url}/api/v1/imports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });

    expect(response.status).toBe(415);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });
});
