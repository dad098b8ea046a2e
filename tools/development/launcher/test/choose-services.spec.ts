import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(__dirname, '../../../..');

/** What the launcher makes of `--only`; in a process of its own, since the launcher consists of ES modules. */
async function chosenBy(only: string[] | undefined) {
  const code = `
    import { chooseServices, discoverServices } from './tools/development/launcher/services.mjs';
    const { chosen, stubs } = chooseServices(discoverServices(), ${JSON.stringify(only)});
    const names = (services) => services.map(({ name }) => name);
    console.log(JSON.stringify({ chosen: names(chosen), stubs: names(stubs) }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
  });
  return JSON.parse(stdout) as { chosen: string[]; stubs: string[] };
}

describe('npm start -- --only', () => {
  it('runs the gateway and the services named, with stubs for the others', async () => {
    const { chosen, stubs } = await chosenBy(['timeline', 'contacts']);

    expect(chosen.sort()).toEqual(['contacts', 'gateway', 'timeline']);
    expect(stubs).toEqual(expect.arrayContaining(['settings', 'workflow', 'template']));
  });

  it('runs every service without a name', async () => {
    const { chosen, stubs } = await chosenBy(undefined);

    expect(chosen).toEqual(expect.arrayContaining(['gateway', 'contacts', 'settings', 'timeline']));
    expect(stubs).toEqual([]);
  });

  it('runs what works for a service with it, and has no stub of it', async () => {
    expect((await chosenBy(['template'])).chosen.sort()).toEqual(['gateway', 'pdf-renderer', 'template']);
    expect((await chosenBy(['timeline'])).stubs).not.toContain('pdf-renderer');
  });

  it('lists the services when a name is unknown', async () => {
    await expect(chosenBy(['timline'])).rejects.toThrow(
      /no service "timline"; there are contacts, .*timeline/,
    );
  });
});
