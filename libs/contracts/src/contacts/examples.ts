const company = {
  externalId: 'C-204',
  name: 'Analytical Engines Ltd',
  kind: 'Customer',
  isActive: true,
  foundedOn: '1997-03-14',
  creditLimit: 25_000,
  employees: 48,
  email: 'office@analytical-engines.example',
};

const contact = {
  externalId: 'P-1842',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@analytical-engines.example',
  phone: '+44 20 7946 0018',
  channel: 'Email',
  wantsNews: true,
  bornOn: '1985-12-10',
  lastSpokenAt: '2026-11-20T09:30:00.000Z',
};

const stored = {
  id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  changedAt: '2026-11-21T12:00:00.000Z',
  changedBy: 'charles',
  createdAt: '2026-10-02T08:15:00.000Z',
  createdBy: 'charles',
};

/** Examples of the shapes of contacts and companies, by the names of the shapes. */
export const contactsExamples: Record<string, unknown> = {
  SaveCompanyRequest: company,
  Company: { ...company, ...stored },
  SaveContactRequest: contact,
  Contact: { ...contact, company: { externalId: company.externalId }, ...stored, stage: 'Prospect' },
};
