import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(__dirname, '../../..');

/** What the launcher makes of `--only`; it is an ES module, so a process of its own asks it. */
async function chosenBy(only: string[] | undefined) {
  const code = `
    import { chooseServices, discoverServices } from './tools/launcher/services.mjs';
    const { chosen, standIns } = chooseServices(discoverServices(), ${JSON.stringify(only)});
    const names = (services) => services.map(({ name }) => name);
    console.log(JSON.stringify({ chosen: names(chosen), standIns: names(standIns) }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
  });
  return JSON.parse(stdout) as { chosen: string[]; standIns: string[] };
}

describe('npm start -- --only', () => {
  it('runs the gateway and what is named, and leaves the rest to stand-ins', async () => {
    const { chosen, standIns } = await chosenBy(['timeline', 'contacts']);

    expect(chosen.sort()).toEqual(['contacts', 'gateway', 'timeline']);
    expect(standIns).toEqual(expect.arrayContaining(['settings', 'workflow', 'template']));
  });

  it('runs everything where nothing is named', async () => {
    const { chosen, standIns } = await chosenBy(undefined);

    expect(chosen).toEqual(expect.arrayContaining(['gateway', 'contacts', 'settings', 'timeline']));
    expect(standIns).toEqual([]);
  });

  it('says which services there are when a name is none of them', async () => {
    await expect(chosenBy(['timline'])).rejects.toThrow(
      /no service "timline"; there are contacts, .*timeline/,
    );
  });
});
