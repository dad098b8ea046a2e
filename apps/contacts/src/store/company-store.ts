import type { SaveCompanyRequest } from '@plinth/contracts/contacts/shapes';
import { entityTag } from '@plinth/kernel/entity-tag';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { z } from 'zod';
import { companyInUse, companyNotFound } from '../domain/problems';
import { companyEvents } from '../events/published';
import type { Company as CompanyRow } from '../generated/client';
import { recordStore, type Model, type StoreParts } from './record-store';

export type { CompanyRow };
type Fields = z.output<typeof SaveCompanyRequest>;

export const companyTag = ({ version }: CompanyRow): string => entityTag(version);

export const companyStore = (parts: StoreParts) =>
  recordStore<CompanyRow, Fields>(
    {
      table: 'company',
      events: companyEvents,
      searchable: ['externalId', 'name', 'email'],
      model: (tx) => tx.company as unknown as Model<CompanyRow>,
      tagOf: companyTag,
      ownFields: ['name', 'kind', 'isActive', 'foundedOn', 'creditLimit', 'employees', 'email'],
      columnsOf: async (_tx, _tenantId, { foundedOn, creditLimit, employees, email, ...rest }) => ({
        ...rest,
        foundedOn: foundedOn ? new Date(foundedOn) : null,
        creditLimit: creditLimit ?? null,
        employees: employees ?? null,
        email: email ?? null,
      }),
      // A request that gives a contact this company waits for the locked row, so none comes in between.
      async requireDeletable(tx, tenantId, id) {
        await readByIndexes(tx, 'for-values');
        const contact = await tx.contact.findFirst({
          where: { tenantId, companyId: id },
          select: { id: true },
        });
        if (contact) throw companyInUse(id);
      },
      notFound: companyNotFound,
    },
    parts,
  );
