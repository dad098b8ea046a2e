import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, type Received } from '../../test/platform-in-memory';
import { addTranslations } from './translations';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-translations-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const texts: Record<string, string> = { en: 'Buy', fr: 'Acheter' };

/** As the platform does: a culture that it has no texts of gets those of its parent, else those of the default. */
function localization({ query: { cultureName } }: Received) {
  const currentCulture = cultureName!.startsWith('fr') ? 'fr' : 'en';
  return { body: { currentCulture, resources: { Shop: { buy: texts[currentCulture] } } } };
}

async function pull(culture: string, ...words: string[]) {
  const file = join(folder, 'texts.csv');
  const { error } = await runCommand(
    addTranslations,
    ['translations', 'pull', file, '--culture', culture, ...words],
    { 'GET /localization': localization },
  );
  return { error, rows: error ? '' : readFileSync(file, 'utf8') };
}

describe('plinth translations pull', () => {
  it.each([
    ['fr', 'Acheter'],
    ['fr-BE', 'Acheter'],
    ['xx', ''],
  ])('writes of %s what it has, and leaves open what nobody has translated', async (culture, target) => {
    const { rows } = await pull(culture);
    expect(rows.trim().split('\n').at(-1)?.trim()).toBe(`Shop,buy,Buy,${target}`);
  });

  it('refuses a language to translate from that has no texts', async () => {
    const { error } = await pull('fr', '--source', 'xx');
    expect(error).toMatchObject({ message: 'There are no texts of xx.' });
  });
});
