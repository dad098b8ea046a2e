import type { Locator, Page } from 'playwright-core';
import type { people, Prepared } from './prepare.ts';

export interface Scene {
  /** Of the page, in the names of its pictures. */
  name: string;
  /** Who looks; Ada unless said. */
  person?: keyof typeof people;
  /** Somebody in the tenant of the operators. */
  isOperator?: boolean;
  /** The language of the browser; English unless said. */
  locale?: string;
  /** What shows a language needs no dark and no narrow picture. */
  isLightOnly?: boolean;
  /** Leads to what is shown, and returns when it is there. */
  open(page: Page, prepared: Prepared): Promise<void>;
}

/** How every page is looked at; its picture in light has the name of the page alone. */
const looks = [
  { suffix: '', colorScheme: 'light', width: 1_280, longest: 1_120 },
  { suffix: '-dark', colorScheme: 'dark', width: 1_280, longest: 1_120 },
  { suffix: '-narrow', colorScheme: 'light', width: 360, longest: 1_800 },
] as const;

export type Look = (typeof looks)[number];

export const looksAt = ({ isLightOnly = false }: Scene): readonly Look[] =>
  isLightOnly ? looks.slice(0, 1) : looks;

/** Every page of the console, and states of them that look like pages of their own. */
export const scenes: readonly Scene[] = [
  { name: 'sign-in', open: openSignIn },
  { name: 'imports', open: opens('/imports', anyRow) },
  {
    name: 'new-import',
    open: async (page) => {
      await page.goto('/console/imports/new');
      await page.getByRole('radiogroup').getByText('Companies', { exact: true }).click();
    },
  },
  {
    name: 'import-columns',
    open: async (page, { uploadedImport }) => {
      await page.goto(`/console/imports/${uploadedImport}`);
      await page.getByRole('button', { name: 'Check the rows' }).waitFor();
      await page.getByText('Château Lacoste').first().waitFor();
    },
  },
  {
    name: 'import-check',
    open: async (page, { mappedImport }) => {
      await page.goto(`/console/imports/${mappedImport}`);
      await page.getByText('4 rows have errors').waitFor();
    },
  },
  {
    name: 'import-result',
    open: async (page, { endedImport }) => {
      await page.goto(`/console/imports/${endedImport}`);
      await page.getByText('Imported, but for 4 rows').waitFor();
    },
  },
  { name: 'exports', open: opens('/exports', anyRow) },
  { name: 'new-export', open: openNewExport },
  {
    name: 'export-ready',
    open: async (page, { exportJob }) => {
      await page.goto(`/console/exports/${exportJob}`);
      await page.getByRole('button', { name: 'Download' }).waitFor();
    },
  },
  { name: 'approvals', person: 'grace', open: openApprovals },
  { name: 'approvals-french', person: 'grace', locale: 'fr-FR', isLightOnly: true, open: openApprovals },
  { name: 'entity', open: openEntity },
  { name: 'entity-french', locale: 'fr-FR', isLightOnly: true, open: openEntity },
  { name: 'notifications', open: opens('/notifications', (page) => page.getByText('mentioned you')) },
  { name: 'settings', open: opens('/settings', anyArticle) },
  { name: 'settings-of-the-tenant', open: opens('/settings?level=tenant', anyArticle) },
  {
    name: 'localization',
    open: opens('/localization', (page) => page.getByRole('grid').getByRole('row').nth(5)),
  },
  { name: 'templates', open: opens('/templates', anyRow) },
  { name: 'new-template', open: opens('/new-template', (page) => page.getByRole('textbox')) },
  {
    name: 'template-gallery',
    open: async (page) => {
      await page.goto('/console/template-gallery');
      await page.getByRole('link', { name: 'Invoice', exact: true }).waitFor();
      await page.getByRole('main').locator('iframe').first().waitFor();
    },
  },
  {
    name: 'gallery-template',
    open: opens('/template-gallery/invoice', (page) =>
      page.getByRole('main').frameLocator('iframe').getByRole('heading', { name: 'Invoice 2026-0417' }),
    ),
  },
  { name: 'template-editor', open: openEditor },
  {
    name: 'template-pdf',
    open: async (page, prepared) => {
      await openEditor(page, prepared);
      const preview = page.getByRole('region', { name: 'Preview' });
      await preview.getByRole('tab', { name: 'PDF' }).click();
      await preview.getByRole('img', { name: 'Page 1' }).waitFor();
    },
  },
  {
    name: 'template-languages',
    open: async (page, prepared) => {
      await openEditor(page, prepared);
      await page.getByRole('link', { name: 'Languages' }).click();
      const french = page.getByRole('region', { name: 'Français' }).first();
      await french.scrollIntoViewIfNeeded();
      await french.frameLocator('iframe').getByText('Échéance').waitFor();
    },
  },
  {
    name: 'template-categories',
    open: async (page) => {
      await page.goto('/console/template-categories');
      await page.getByRole('button', { name: 'Rename Letters' }).click();
      await page.getByRole('table').getByRole('textbox').waitFor();
    },
  },
  { name: 'workflows', open: opens('/workflows', (page) => page.getByRole('link', { name: 'Loan' })) },
  {
    name: 'workflow-editor',
    open: async (page) => {
      await page.goto('/console/workflows/Loan');
      await page.getByRole('button', { name: 'Grant', exact: true }).click();
      await page.getByRole('textbox', { name: 'Name of the transition' }).waitFor();
    },
  },
  {
    name: 'operations',
    isOperator: true,
    open: opens('/operations', (page) => page.getByRole('img', { name: /^Requests per minute/ })),
  },
];

/** Opens an address, and waits for something that is there when the page is. */
function opens(address: string, there: (page: Page) => Locator): Scene['open'] {
  return async (page) => {
    await page.goto(`/console${address}`);
    await there(page).first().waitFor();
  };
}

function anyRow(page: Page): Locator {
  return page.getByRole('table').getByRole('link');
}

function anyArticle(page: Page): Locator {
  return page.getByRole('article');
}

async function openSignIn(page: Page): Promise<void> {
  await page.evaluate(() => sessionStorage.clear());
  await page.goto('/console/sign-in');
  await page.getByRole('button', { name: 'Ada Lovelace' }).first().waitFor();
}

async function openNewExport(page: Page): Promise<void> {
  await page.goto('/console/exports/new');
  await page.getByRole('radiogroup').getByText('Contacts', { exact: true }).click();
  const fields = page.getByRole('grid', { name: 'Fields' });
  for (const name of ['External id', 'Phone', 'Preferred channel', 'Wants news'])
    await fields.getByText(name, { exact: true }).click();
  await page.getByText('Excel workbook').click();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  const condition = page.getByRole('group', { name: 'Condition 1' });
  await condition.getByRole('button', { name: /Field/ }).click();
  await page.getByRole('option', { name: 'Stage' }).click();
  await condition.getByRole('button', { name: /Value/ }).click();
  await page.getByRole('option', { name: 'Active' }).click();
  await page.getByText(/^Only rows are exported where/).waitFor();
}

async function openApprovals(page: Page): Promise<void> {
  await page.goto('/console/approvals');
  const request = page.getByRole('article').filter({ hasText: 'Due on Friday' }).first();
  await request.getByRole('textbox').waitFor();
  await request.getByRole('button', { expanded: false }).click();
  await request.getByRole('heading', { name: /^(History|Historique)$/ }).waitFor();
}

async function openEntity(page: Page): Promise<void> {
  await page.goto('/console/entities/Loan/4711');
  await page.getByRole('article').filter({ hasText: 'guarantor' }).waitFor();
  await page.getByRole('img', { name: /Loan/ }).waitFor();
}

/** The invoice of the gallery, copied in every language by the page, which brings its sample data along. */
async function openEditor(page: Page, { removeInvoice }: Prepared): Promise<void> {
  await removeInvoice();
  await page.goto('/console/template-gallery/invoice');
  const copy = page.getByRole('button', { name: 'Copy to your templates' });
  await copy.waitFor();
  await copy.click();
  await page.getByRole('button', { name: 'Save' }).waitFor();
  const preview = page.getByRole('region', { name: 'Preview' });
  // It is loaded where it is in sight.
  await preview.evaluate((section) => section.scrollIntoView({ block: 'center' }));
  await preview.frameLocator('iframe').getByRole('heading', { name: 'Invoice 2026-0417' }).waitFor();
}
