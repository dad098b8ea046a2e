import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../development/demo/client.ts';
import { uploadedImport } from '../../development/demo/mapped-import.ts';
import { companiesFile } from './companies.ts';

/** Who is in the pictures, as on the page of the development sign-in. */
export const people = {
  ada: { sub: 'demo-admin', name: 'Ada Lovelace', roles: ['admin'] },
  grace: { sub: 'grace', name: 'Grace Hopper', roles: ['publisher'] },
  emile: { sub: 'emile', name: 'Émile Zola', roles: ['editor'] },
};

type Clients = Record<keyof typeof people, Client>;

/** What the pictures show, made through the public interface. */
export interface Prepared {
  /** An import whose columns are to be confirmed, one whose rows are to be checked, and one that has ended. */
  uploadedImport: string;
  mappedImport: string;
  endedImport: string;
  /** An export whose file is there. */
  exportJob: string;
  /** Removes what a page copies, so that another page can copy it. */
  removeInvoice(): Promise<void>;
}

/** Makes what is in the pictures; what is there already stays as it is. */
export async function prepare(clients: Clients): Promise<Prepared> {
  await prepareWorkflow(clients);
  await prepareApproval(clients);
  await prepareTemplates(clients);
  const endedImport = await mapImport(clients, 'companies-2025.csv');
  await clients.ada.call('POST', `/imports/${endedImport}/execute`, { body: {}, expect: [202] });
  await untilEnded(clients, `/imports/${endedImport}`);
  const body = { definitionName: 'Contacts.Companies', format: 'xlsx' };
  const { body: job } = await clients.ada.call('POST', '/exports/jobs', { body, expect: [202] });
  await untilEnded(clients, `/exports/jobs/${job.id}`);
  return {
    mappedImport: await mapImport(clients, 'companies-2026.csv'),
    uploadedImport: await uploadCompanies(clients, 'suppliers.csv'),
    endedImport,
    exportJob: job.id,
    removeInvoice: async () => {
      for (const culture of cultures)
        await clients.ada.call('DELETE', `/templates/invoice?culture=${culture}`, { expect: [204, 404] });
    },
  };
}

async function untilEnded({ ada }: Clients, path: string): Promise<void> {
  while ((await ada.call('GET', path)).body.completedAt === null) await pause(500);
}

/** Uploads the companies, and finds out which column is which. */
async function uploadCompanies({ ada }: Clients, fileName: string): Promise<string> {
  const file = new Blob([new Uint8Array(companiesFile())]);
  const id = await uploadedImport(ada, 'Contacts.Companies', file, fileName);
  await ada.call('POST', `/imports/${id}/preview`);
  return id;
}

const propertyOf = {
  'Customer no.': 'externalId',
  'Company name': 'name',
  Type: 'kind',
  Active: 'isActive',
  Founded: 'foundedOn',
  'Credit limit (EUR)': 'creditLimit',
  Staff: 'employees',
  'E-mail': 'email',
};

async function mapImport(clients: Clients, fileName: string): Promise<string> {
  const id = await uploadCompanies(clients, fileName);
  const mappings = Object.entries(propertyOf).map(([sourceColumn, targetProperty]) => ({
    sourceColumn,
    targetProperty,
    confidence: 'Manual',
  }));
  const body = { mappings, saveForReuse: true };
  await clients.ada.call('PUT', `/imports/${id}/mappings`, { body, expect: [204] });
  return id;
}

const entityType = 'Loan';
// Types of timeline entries travel as numbers.
const COMMENT = 0;
const INTERNAL_NOTE = 1;

async function prepareWorkflow({ ada, grace, emile }: Clients): Promise<void> {
  const states = ['Asked', 'In review', 'Granted', 'Refused'];
  const definition = {
    initialState: 'Asked',
    states,
    transitions: [
      { name: 'Check', from: 'Asked', to: 'In review' },
      { name: 'Ask again', from: 'In review', to: 'Asked' },
      {
        name: 'Grant',
        from: 'In review',
        to: 'Granted',
        requiresApproval: true,
        approvers: { users: [people.grace.sub, people.emile.sub] },
      },
      { name: 'Refuse', from: 'In review', to: 'Refused' },
    ],
  };
  const path = `/workflow/definitions/${entityType}?format=json`;
  const { status } = await ada.call('GET', path, { expect: [200, 404] });
  if (status === 404) await ada.call('PUT', `/workflow/definitions/${entityType}`, { body: definition });
  const entries = `/timeline/${entityType}/4711/entries`;
  if ((await ada.call('GET', `/timeline/${entityType}/4711`)).body.items.length > 0) return;
  const mention = `@[${people.ada.name}](user:${people.ada.sub})`;
  const say = (client: Client, entryType: 0 | 1, text: string) =>
    client.call('POST', entries, { body: { entryType, body: text } });
  await say(grace, COMMENT, `The numbers are ready to be looked at, ${mention}.`);
  await say(emile, COMMENT, 'I spoke with the customer: the second guarantor signs on Monday.');
  await say(ada, INTERNAL_NOTE, 'Above our usual limit: let Grace decide.');
  await ada.call('POST', `/timeline/${entityType}/4711/follow`);
}

/** An invoice whose approval Grace is asked for. */
async function prepareApproval({ grace, emile }: Clients): Promise<void> {
  await grace.call('GET', '/notifications');
  const path = '/workflow/Invoice/2026-1042';
  const { body: approvals } = await grace.call('GET', '/workflow/approvals');
  if (approvals.items.some(({ entityId }: { entityId: string }) => entityId === '2026-1042')) return;
  const move = (targetState: string, comment?: string) =>
    emile.call('POST', `${path}/transition`, { body: { targetState, comment } });
  await move('Submitted');
  await move('Approved', 'Due on Friday');
}

const cultures = ['en', 'en-GB', 'fr', 'fr-CA'];

/** Templates of the gallery in all languages, but the invoice: that one is copied by the page itself. */
async function prepareTemplates({ ada }: Clients): Promise<void> {
  for (const name of ['Invoices', 'Letters', 'Reminders'])
    await ada.call('POST', '/template-categories', { body: { name }, expect: [201, 409] });
  const categories = { welcome: 'Letters', 'payment-reminder': 'Reminders' };
  for (const culture of cultures) {
    for (const [name, category] of Object.entries(categories)) {
      const { body: source } = await ada.call('GET', `/template-gallery/${name}?culture=${culture}`);
      const { content, mimeType } = source;
      const body = { name, culture, content, mimeType, category };
      await ada.call('POST', '/templates', { body, expect: [201, 409] });
    }
  }
}
