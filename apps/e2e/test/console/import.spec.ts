/// <reference lib="dom" />
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stream } from 'exceljs';
import type { Locator, Page, Response } from 'playwright-core';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, movedOf, respondWithProblem } from './browser';

const ROWS = 2_000;

const browser = browserForTests();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-console-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** As people keep it: a sheet of notes first, a title above the table, headers of another program, two rows with errors. */
async function messyWorkbook(): Promise<string> {
  const filename = join(folder, 'people.xlsx');
  const workbook = new stream.xlsx.WorkbookWriter({ filename });
  const notes = workbook.addWorksheet('Notes');
  notes.addRow(['From the old system']).commit();
  const people = workbook.addWorksheet('People');
  people.addRow(['People of the old system']).commit();
  people.addRow([]).commit();
  people
    .addRow(['Cust. Ref', 'Given name', 'Surname', 'E-Mail address', 'Contact via', 'Newsletter', 'Birthday'])
    .commit();
  const series = newId().slice(-12);
  for (let index = 1; index <= ROWS; index++) {
    const surname = index === 800 ? '' : `O’Neill ${index}`;
    const email = index === 1_600 ? 'zoe(at)example.com' : `zoe${index}@example.com`;
    const born = new Date(Date.UTC(1960 + (index % 40), index % 12, 1 + (index % 28)));
    people
      .addRow([`${series}-${index}`, 'Zoë', surname, email, 'Post', index % 2 ? 'yes' : 'no', born])
      .commit();
  }
  await workbook.commit();
  return filename;
}

async function choose(page: Page, label: string, option: RegExp) {
  await page.getByRole('button', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

const columnField = (page: Page, column: string) =>
  page.getByRole('button', { name: `Field for the column ${column}` });

/** Not the response of a page that asks what was kept. */
const isKept = (response: Response) =>
  response.url().endsWith('/draft-mappings') && response.request().method() === 'PUT';

/** Chooses what a column holds, and waits until the platform keeps it. */
async function chooseColumn(page: Page, column: string, option: RegExp) {
  const kept = page.waitForResponse(isKept);
  await choose(page, `Field for the column ${column}`, option);
  expect((await kept).status()).toBe(204);
}

describe('an import in the console', () => {
  it(`brings in a messy workbook of ${ROWS} rows, corrects two of them, and is undone`, async () => {
    const file = await messyWorkbook();
    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'New import' }).click();
    await page.getByRole('radiogroup').getByText('Contacts', { exact: true }).click();
    await expectForEverybody(page);
    await page.locator('input[type=file]').setInputFiles(file);

    // It says which sheet it took, that the table may be on another one, and takes that.
    await page.getByText('Is your table on another sheet? Choose it above.').waitFor();
    await choose(page, 'Sheet', /People/);
    await page.getByText('zoe1@example.com').first().waitFor();
    await page.getByText(/^Rows 1 to 2 are text above the table/).waitFor();
    await chooseColumn(page, 'Cust. Ref', /External id/);
    await expectForEverybody(page);
    // Another device goes on with the columns that were chosen, and this one with those that were chosen there.
    const { page: elsewhere } = await browser.signIn('Ada Lovelace');
    await elsewhere.getByRole('link', { name: 'people.xlsx' }).first().click();
    await columnField(elsewhere, 'Cust. Ref').filter({ hasText: 'External id' }).waitFor();
    await chooseColumn(elsewhere, 'Contact via', /Preferred channel/);
    await page.reload();
    await columnField(page, 'Contact via').filter({ hasText: 'Preferred channel' }).waitFor();
    await columnField(page, 'Cust. Ref').filter({ hasText: 'External id' }).waitFor();
    await page.getByRole('button', { name: 'Check the rows' }).click();

    await page.getByText('2 rows have errors').waitFor();
    const wrong = page.getByRole('cell', { name: 'zoe(at)example.com' });
    await wrong.waitFor();
    await expectForEverybody(page);
    // On a phone, too, what is wrong is in sight.
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 360, height: 740 });
    await eventually(async () => {
      const { x, width } = (await wrong.boundingBox())!;
      return x + width <= 360;
    });
    await page.setViewportSize(size);
    // Nothing moves there when what was found arrives.
    await elsewhere.setViewportSize({ width: 360, height: 740 });
    await elsewhere.reload();
    await elsewhere.getByText('2 rows have errors').waitFor();
    expect(await movedOf(elsewhere)).toEqual([]);
    await elsewhere.setViewportSize(size);
    const kept = elsewhere.waitForResponse(isKept);
    await elsewhere.getByText('Add new rows only').click();
    await kept;
    await page.reload();
    await page.getByRole('radio', { name: 'Add new rows only', checked: true }).waitFor();
    await page.getByText('Add and change', { exact: true }).click();
    await page.getByRole('button', { name: 'Import 1,998 rows' }).click();
    // Whoever opens the address anew finds the import where it is.
    await page
      .getByText(/rows? done|Imported, but for/)
      .first()
      .waitFor();
    await page.reload();
    await page.getByText('Imported, but for 2 rows').waitFor();
    await elsewhere.reload();
    await elsewhere.getByText('Imported, but for 2 rows').waitFor();
    await expectForEverybody(page);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all 2 rows as a file' }).click();
    expect((await download).suggestedFilename()).toBe('people_errors.xlsx');

    await page.getByRole('textbox', { name: 'E-Mail address, row 1603' }).fill('zoe@example.com');
    await page.getByRole('textbox', { name: 'Surname, row 803' }).fill('O’Neill');
    await page.getByRole('button', { name: 'Import 2 corrected rows' }).click();
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('All rows were imported').waitFor();

    // Once the time for it is over, nobody is offered an undo.
    await elsewhere.route(new URL(page.url()).pathname.replace('/console/', '/api/v1/'), async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), undoableUntil: null } });
    });
    await elsewhere.goto(page.url());
    await elsewhere.getByRole('link', { name: 'Import another file' }).waitFor();
    expect(await elsewhere.getByRole('button', { name: 'Undo this import' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Undo this import' }).click();
    await page.getByText('The 2 rows that it added will be removed.').waitFor();
    await page.getByText('Only the corrected rows go').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Undo this import' }).click();
    await page.getByText('2 rows were removed, 0 restored and 0 kept.').waitFor();
    await expectForEverybody(page);

    await page.getByRole('link', { name: 'Imports' }).first().click();
    const corrected = page.getByRole('row').filter({ hasText: 'people_corrected.csv' }).first();
    await corrected.getByText('Undone', { exact: true }).waitFor();
    await expectForEverybody(page);
  });

  it('shows each correction of the format until it is answered, also one that is taken back or refused', async () => {
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.getByRole('link', { name: 'New import' }).click();
    await page.getByRole('radiogroup').getByText('Contacts', { exact: true }).click();
    const rows = [
      "'Last name';'Email'",
      "'Surname';'Address'",
      "'Lovelace';'ada@example.com'",
      "'Hopper';'grace@example.com'",
    ];
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) };
    await page.locator('input[type=file]').setInputFiles(file);
    const part = (name: string, value: string) =>
      page.getByRole('button', { name }).filter({ hasText: value }).waitFor();
    await part('Columns are separated by', 'Semicolon');

    let goOn = () => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const sent: unknown[] = [];
    await page.route('**/format', async (route) => {
      sent.push(route.request().postDataJSON());
      if (sent.length > 1) return route.continue();
      await held;
      await respondWithProblem(route, { status: 404, detail: 'Nothing is there.' });
    });
    await choose(page, 'Columns are separated by', /^Comma/);
    await part('Columns are separated by', 'Comma');
    await choose(page, 'Names of the columns are in', /^Row 2$/);
    await part('Names of the columns are in', 'Row 2');
    await part('Columns are separated by', 'Comma');
    await choose(page, 'Columns are separated by', /^Semicolon/);
    await part('Columns are separated by', 'Semicolon');
    // The last one shows the same before its response as after it: only the response itself says that it was sent.
    const last = page.waitForResponse(
      (response) => response.request().postData() === JSON.stringify({ delimiter: ';' }),
    );
    goOn();
    await page.getByText('Nothing is there.').waitFor();
    await columnField(page, 'Surname').waitFor();
    await last;
    await part('Names of the columns are in', 'Row 2');
    await part('Columns are separated by', 'Semicolon');
    await page.getByText('Nothing is there.').waitFor();
    expect(sent).toEqual([{ delimiter: ',' }, { headerRow: 2 }, { delimiter: ';' }]);
    // What is unusual stays to be chosen once it was corrected.
    await choose(page, 'Cells stand between', /^" … "$/);
    await columnField(page, "'Surname'").waitFor();
    await choose(page, 'Cells stand between', /^' … '$/);
    await columnField(page, 'Surname').waitFor();

    // It is given up: where that fails it says so, and afterwards that nothing came of it.
    const giveUp = async () => {
      await page.getByRole('button', { name: 'Cancel the import' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the import' }).click();
    };
    await page.route('**/imports/*', (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      return respondWithProblem(route, { status: 404, detail: 'It cannot be given up.' });
    });
    await giveUp();
    await page.getByText('It cannot be given up.').waitFor();
    await page.unroute('**/imports/*');
    await giveUp();
    await page.getByText('This import was canceled').waitFor();
    // It has no report, which is how one learns that it never ran.
    window.allow('409');
  });

  it('is confirmed and executed as the person sees it, whatever a colleague chooses meanwhile', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id, sub: 'grace' });
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.getByRole('link', { name: 'New import' }).click();
    await page.getByRole('radiogroup').getByText('Contacts', { exact: true }).click();
    const file = `Ref,Last name,Nick,Preferred channel\n${newId()},Hopper,Amazing Grace,Post\n`;
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    await columnField(page, 'Nick').waitFor();
    const path = new URL(page.url()).pathname.replace('/console/', '/api/v1/');
    const mappedByColleague = (nick: string | null) => ({
      token,
      body: {
        mappings: [
          { sourceColumn: 'Ref', targetProperty: 'externalId' },
          { sourceColumn: 'Last name', targetProperty: 'lastName' },
          { sourceColumn: 'Nick', targetProperty: nick },
          { sourceColumn: 'Preferred channel', targetProperty: 'channel' },
        ],
      },
    });
    const changes = page.getByText('Changed meanwhile');

    expect((await journey.call('PUT', `${path}/draft-mappings`, mappedByColleague(null))).status).toBe(204);
    await choose(page, 'Field for the column Nick', /First name/);
    await changes.waitFor();
    await window.complained('409');
    await columnField(page, 'Ref').filter({ hasText: 'External id' }).waitFor();
    await columnField(page, 'Nick').filter({ hasText: 'Do not import' }).waitFor();
    await chooseColumn(page, 'Nick', /First name/);
    await page.getByRole('button', { name: 'Check the rows' }).click();

    const execute = page.getByRole('button', { name: 'Import 1 row' });
    await execute.waitFor();
    expect((await journey.call('PUT', `${path}/mappings`, mappedByColleague(null))).status).toBe(204);
    await execute.click();
    await changes.waitFor();
    await window.complained('409');
    expect((await journey.call('GET', path, { token })).body.status).toBe('Mapped');
    await execute.click();
    await page.getByText('All rows were imported').waitFor();
  });

  it('brings what is wrong into sight, whatever was in sight before', async () => {
    const notes = Array.from({ length: 8 }, (_, index) => `Note ${index}`);
    const rows = [
      ['External id', 'Last name', ...notes, 'Preferred channel', 'Email'],
      ['1', '', ...notes.map((note) => `${note}: written down by somebody`), 'Post', 'zoe(at)example.com'],
      ['2', 'Hopper', ...notes, 'Post', 'grace@example.com'],
    ].map((cells) => cells.join(','));
    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'New import' }).click();
    await page.getByRole('radiogroup').getByText('Contacts', { exact: true }).click();
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Check the rows' }).click();
    const table = page.getByRole('region', { name: 'What is wrong' });
    await table.waitFor();
    const isInSight = (cell: Locator) =>
      cell.evaluate((element) => {
        const number = element.parentElement!.firstElementChild!.getBoundingClientRect();
        const frame = element.closest('[role=region]')!.getBoundingClientRect();
        const { left, right } = element.getBoundingClientRect();
        return left >= number.right - 1 && right <= frame.right + 1;
      });
    const cells = table.getByRole('row').nth(1).getByRole('cell');
    const [name, email] = [cells.nth(1), cells.last()];
    const groups = page.getByRole('group', { name: 'Groups of errors' });
    // A row has both errors: the one that was asked for is what it is shown for.
    await groups.getByRole('button', { name: /Email/ }).click();
    await eventually(() => isInSight(email));
    expect(await isInSight(name)).toBe(false);
    await groups.getByRole('button', { name: /Last name/ }).click();
    await eventually(() => isInSight(name));
  });
});
