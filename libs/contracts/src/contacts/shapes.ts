import { pagedResult } from '@plinth/kernel/paged-result';
import { z } from 'zod';
import { Day, Id, Instant, text, Timestamp } from '../schemas';

const EXTERNAL_ID_LENGTH_MAX = 64;
const NAME_LENGTH_MAX = 200;
const PHONE_LENGTH_MAX = 50;
/** The largest amount that a JSON number and a spreadsheet have exactly to the cent. */
const AMOUNT_MAX = 9_999_999_999_999.99;

export const CompanyKind = { Customer: 'Customer', Supplier: 'Supplier', Partner: 'Partner' } as const;
export type CompanyKind = (typeof CompanyKind)[keyof typeof CompanyKind];

export const PreferredChannel = { Email: 'Email', Phone: 'Phone', Post: 'Post' } as const;
export type PreferredChannel = (typeof PreferredChannel)[keyof typeof PreferredChannel];

/** The stage of a contact. Workflow decides about transitions (`contactWorkflowDefinition`). */
export const ContactStage = { Prospect: 'Prospect', Active: 'Active', Archived: 'Archived' } as const;
export type ContactStage = (typeof ContactStage)[keyof typeof ContactStage];

const externalId = (of: string) =>
  text(EXTERNAL_ID_LENGTH_MAX, 1).meta({
    title: 'External id',
    description: `What the ${of} is known by elsewhere; no two of a tenant share it`,
  });

const email = () => z.email().max(254).meta({ title: 'Email' });

/** The fields of a company in a request and in a row of a file. */
export const CompanyFields = z.object({
  externalId: externalId('company'),
  name: text(NAME_LENGTH_MAX, 1).meta({ title: 'Name' }),
  kind: z.enum(CompanyKind).meta({ title: 'Kind' }),
  isActive: z.boolean().meta({ title: 'Active', description: 'Whether there is business with it' }),
  foundedOn: Day.meta({ title: 'Founded on' }).nullish(),
  creditLimit: z.number().min(0).max(AMOUNT_MAX).multipleOf(0.01).meta({ title: 'Credit limit' }).nullish(),
  employees: z.int().min(0).max(10_000_000).meta({ title: 'Employees' }).nullish(),
  email: email().nullish(),
});

/** The fields of a contact in a request and in a row of a file; its company is named by the external id. */
export const ContactFields = z.object({
  externalId: externalId('contact'),
  firstName: text(NAME_LENGTH_MAX).meta({ title: 'First name' }).nullish(),
  lastName: text(NAME_LENGTH_MAX, 1).meta({ title: 'Last name' }),
  email: email().nullish(),
  phone: text(PHONE_LENGTH_MAX).meta({ title: 'Phone' }).nullish(),
  channel: z.enum(PreferredChannel).meta({ title: 'Preferred channel' }),
  wantsNews: z.boolean().meta({ title: 'Wants news' }).nullish(),
  bornOn: Day.meta({ title: 'Born on' }).nullish(),
  lastSpokenAt: Instant.meta({ title: 'Last spoken at' }).nullish(),
  company: z
    .object({ externalId: externalId('company') })
    .meta({ title: 'Company', description: 'A company that is known here' })
    .nullish(),
});

const stored = {
  id: Id,
  changedAt: Timestamp,
  changedBy: z.string(),
  createdAt: Timestamp,
  createdBy: z.string(),
};

export const Company = CompanyFields.extend(stored).meta({ id: 'Company' });
export const CompanyPage = pagedResult(Company).meta({ id: 'CompanyPage' });
export const SaveCompanyRequest = CompanyFields.meta({ id: 'SaveCompanyRequest' });

export const Contact = ContactFields.extend({
  ...stored,
  lastSpokenAt: Timestamp.nullish(),
  stage: z.enum(ContactStage),
}).meta({ id: 'Contact' });
export const ContactPage = pagedResult(Contact).meta({ id: 'ContactPage' });
export const SaveContactRequest = ContactFields.meta({ id: 'SaveContactRequest' });
