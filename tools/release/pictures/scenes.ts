import type { Page } from 'playwright-core';
import type { people, Prepared } from './prepare.ts';

export interface Scene {
  /** Of the picture. */
  name: string;
  /** Who looks; Ada unless said. */
  person?: keyof typeof people;
  /** Somebody in the tenant of the operators. */
  isOperator?: boolean;
  isDark?: boolean;
  /** The language of the browser; English unless said. */
  locale?: string;
  width?: number;
  height?: number;
  /** Leads to what is shown, and returns when it is there. */
  open(page: Page, prepared: Prepared): Promise<void>;
}

const NARROW = { width: 360, height: 760 };

/** Every picture of the console in the documentation. */
export const scenes: readonly Scene[] = [
  { name: 'imports-narrow', ...NARROW, open: openList('imports') },
  { name: 'exports-narrow', ...NARROW, isDark: true, open: openList('exports') },
  {
    name: 'import-columns',
    open: async (page, { uploadedImport }) => {
      await page.goto(`/console/imports/${uploadedImport}`);
      await page.getByRole('button', { name: 'Check the rows' }).waitFor();
      await page.getByText('Château Lacoste').first().waitFor();
    },
  },
  { name: 'import-check-dark', isDark: true, open: openCheck },
  { name: 'import-check-narrow', ...NARROW, height: 1_780, open: openCheck },
  {
    name: 'import-result',
    open: async (page) => {
      await page.goto('/console/imports');
      await page
        .getByRole('row')
        .filter({ hasText: 'Completed with errors' })
        .getByRole('link')
        .first()
        .click();
      await page.getByText('Imported, but for 4 rows').waitFor();
    },
  },
  { name: 'export', height: 1_060, open: openNewExport },
  { name: 'export-narrow', ...NARROW, height: 1_790, isDark: true, open: openNewExport },
  { name: 'approvals-french', person: 'grace', locale: 'fr-FR', height: 800, open: openApprovals },
  { name: 'entity-dark', isDark: true, open: openEntity },
  { name: 'entity-french', locale: 'fr-FR', height: 860, open: openEntity },
  { name: 'entity-narrow', ...NARROW, height: 1_200, open: openEntity },
  { name: 'settings-dark', isDark: true, open: openSettings },
  { name: 'settings-narrow', ...NARROW, open: openSettings },
  { name: 'localization', open: openLocalization },
  {
    name: 'template-gallery',
    open: async (page) => {
      await page.goto('/console/template-gallery');
      await page.getByRole('link', { name: 'Invoice', exact: true }).waitFor();
      await page.getByRole('main').locator('iframe').first().waitFor();
    },
  },
  { name: 'template-editor', open: openEditor },
  {
    name: 'template-pdf-dark',
    isDark: true,
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
      await french.frameLocator('iframe').getByText('Échéance').waitFor();
    },
  },
  { name: 'templates-narrow', ...NARROW, open: openList('templates') },
  {
    name: 'template-categories',
    height: 700,
    open: async (page) => {
      await page.goto('/console/template-categories');
      await page.getByRole('button', { name: 'Rename Letters' }).click();
      await page.getByRole('table').getByRole('textbox').waitFor();
    },
  },
  {
    name: 'workflow-editor',
    height: 1_120,
    open: async (page) => {
      await page.goto('/console/workflows/Loan');
      await page.getByRole('button', { name: 'Grant', exact: true }).click();
      await page.getByRole('textbox', { name: 'Name of the transition' }).waitFor();
    },
  },
  { name: 'operations', isOperator: true, height: 1_110, open: openOperations },
  { name: 'operations-dark', isOperator: true, isDark: true, height: 1_110, open: openOperations },
  { name: 'operations-narrow', isOperator: true, ...NARROW, height: 1_240, open: openOperations },
];

function openList(area: 'imports' | 'exports' | 'templates'): Scene['open'] {
  return async (page) => {
    await page.goto(`/console/${area}`);
    await page.getByRole('table').getByRole('link').first().waitFor();
  };
}

async function openCheck(page: Page, { mappedImport }: Prepared): Promise<void> {
  await page.goto(`/console/imports/${mappedImport}`);
  await page.getByText('4 rows have errors').waitFor();
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
  await request.getByRole('heading', { name: 'Historique' }).waitFor();
}

async function openEntity(page: Page): Promise<void> {
  await page.goto('/console/entities/Loan/4711');
  await page.getByRole('article').filter({ hasText: 'guarantor' }).waitFor();
  await page.getByRole('img', { name: /Loan/ }).waitFor();
}

async function openSettings(page: Page): Promise<void> {
  await page.goto('/console/settings');
  await page.getByRole('article').first().waitFor();
}

async function openLocalization(page: Page): Promise<void> {
  await page.goto('/console/localization');
  await page.getByRole('grid').getByRole('row').nth(5).waitFor();
}

/** The invoice of the gallery, copied in every language. */
async function openEditor(page: Page, { removeInvoice }: Prepared): Promise<void> {
  await removeInvoice();
  await page.goto('/console/template-gallery/invoice');
  const copy = page.getByRole('button', { name: 'Copy to your templates' });
  await copy.waitFor();
  await copy.click();
  await page.getByRole('button', { name: 'Save' }).waitFor();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.frameLocator('iframe').getByRole('heading', { name: 'Invoice 2026-0417' }).waitFor();
}

async function openOperations(page: Page): Promise<void> {
  await page.goto('/console/operations');
  await page.getByRole('img', { name: /^Requests per minute/ }).waitFor();
}
