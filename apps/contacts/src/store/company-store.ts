import type { CompanyKind, SaveCompanyRequest } from '@plinth/contracts/contacts/shapes';
import type { z } from 'zod';
import { companyInUse, companyNotFound } from '../domain/problems';
import { companyFacts } from '../events/told';
import type { Company } from '../generated/client';
import { dayOf, recordStore, type Model, type StoreParts } from './record-store';

type Fields = z.output<typeof SaveCompanyRequest>;

export const companyStore = (parts: StoreParts) =>
  recordStore<Company, Fields>(
    {
      table: 'company',
      facts: companyFacts,
      searchable: ['externalId', 'name', 'email'],
      model: (tx) => tx.company as unknown as Model<Company>,
      columnsOf: async (_tx, _tenantId, { foundedOn, creditLimit, employees, email, ...rest }) => ({
        ...rest,
        foundedOn: foundedOn ? new Date(foundedOn) : null,
        creditLimit: creditLimit ?? null,
        employees: employees ?? null,
        email: email ?? null,
      }),
      // Whoever gives a contact this company waits for the row, so none comes in between.
      async requireDeletable(tx, tenantId, id) {
        if ((await tx.contact.count({ where: { tenantId, companyId: id } })) > 0) throw companyInUse(id);
      },
      notFound: companyNotFound,
    },
    parts,
  );

/** What clients see of a row. */
export const toCompany = (row: Company) => {
  const { id, externalId, name, isActive, email, createdAt, createdBy, changedAt, changedBy } = row;
  return {
    id,
    externalId,
    name,
    kind: row.kind as CompanyKind,
    isActive,
    foundedOn: dayOf(row.foundedOn),
    creditLimit: row.creditLimit?.toNumber() ?? null,
    employees: row.employees === null ? null : Number(row.employees),
    email,
    createdAt,
    createdBy,
    changedAt,
    changedBy,
  };
};
