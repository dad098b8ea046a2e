import { ContactStage, type SaveContactRequest } from '@plinth/contracts/contacts/shapes';
import { entityTag, hashedEntityTag } from '@plinth/kernel/entity-tag';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { z } from 'zod';
import { contactNotFound, unknownCompany } from '../domain/problems';
import { contactEvents } from '../events/published';
import type { Prisma } from '../generated/client';
import { recordStore, type Model, type StoreParts } from './record-store';

type Fields = z.output<typeof SaveContactRequest>;

const include = { company: { select: { externalId: true } } } as const;
export type ContactRow = Prisma.ContactGetPayload<{ include: typeof include }>;

/** A company is named by its external id, under which there may be another one later. */
export const contactTag = ({ version, company }: ContactRow): string =>
  company ? hashedEntityTag(JSON.stringify([version, company.externalId])) : entityTag(version);

export const contactStore = (parts: StoreParts) =>
  recordStore<ContactRow, Fields>(
    {
      table: 'contact',
      events: contactEvents,
      searchable: ['externalId', 'firstName', 'lastName', 'email'],
      model: (tx) => tx.contact as unknown as Model<ContactRow>,
      tagOf: contactTag,
      include,
      withRelated: async (tx, tenantId, contacts) => {
        const ids = contacts.flatMap(({ companyId }) => companyId ?? []);
        const companies = await tx.company.findMany({
          where: { tenantId, id: { in: ids } },
          select: { id: true, externalId: true },
        });
        const byId = new Map(companies.map(({ id, externalId }) => [id, { externalId }]));
        return contacts.map((contact) => ({
          ...contact,
          company: byId.get(contact.companyId ?? '') ?? null,
        }));
      },
      relatedOf: ({ company }) => ({ company: company ? { externalId: company.externalId } : null }),
      holdRelated: holdCompanyOf,
      ownFields: [
        'firstName',
        'lastName',
        'email',
        'phone',
        'channel',
        'wantsNews',
        'bornOn',
        'lastSpokenAt',
        'companyId',
        'stage',
      ],
      columnsOf: async (tx, tenantId, { company, bornOn, lastSpokenAt, ...rest }) => ({
        ...rest,
        firstName: rest.firstName ?? null,
        email: rest.email ?? null,
        phone: rest.phone ?? null,
        wantsNews: rest.wantsNews ?? null,
        bornOn: bornOn ? new Date(bornOn) : null,
        lastSpokenAt: lastSpokenAt ? new Date(lastSpokenAt) : null,
        companyId: company ? await companyIdOf(tx, tenantId, company.externalId) : null,
      }),
      initial: { stage: ContactStage.Prospect },
      notFound: contactNotFound,
    },
    parts,
  );

/** The company of a contact keeps its external id. */
async function holdCompanyOf(tx: Prisma.TransactionClient, tenantId: string, id: string): Promise<void> {
  await readByIndexes(tx, 'for-values');
  await tx.$queryRawUnsafe(
    `SELECT id FROM company WHERE tenant_id = $1::uuid AND id = (
       SELECT company_id FROM contact WHERE tenant_id = $1::uuid AND id = $2::uuid) FOR KEY SHARE`,
    tenantId,
    id,
  );
}

/** The company with this external id; it cannot be deleted before the contact is stored. */
async function companyIdOf(
  tx: Prisma.TransactionClient,
  tenantId: string,
  externalId: string,
): Promise<string> {
  await readByIndexes(tx, 'for-values');
  const [found] = await tx.$queryRawUnsafe<{ id: string }[]>(
    'SELECT id FROM company WHERE tenant_id = $1::uuid AND external_id = $2 FOR KEY SHARE',
    tenantId,
    externalId,
  );
  if (!found) throw unknownCompany(externalId);
  return found.id;
}
