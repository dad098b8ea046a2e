import type { ContactStage, PreferredChannel } from '@plinth/contracts/contacts/shapes';
import type { ContactRow } from '../store/contact-store';
import { toDay } from './record-response';

export const toContact = (row: ContactRow) => {
  const { id, externalId, firstName, lastName, email, phone, wantsNews, lastSpokenAt, company } = row;
  const { createdAt, createdBy, changedAt, changedBy } = row;
  return {
    id,
    externalId,
    firstName,
    lastName,
    email,
    phone,
    channel: row.channel as PreferredChannel,
    wantsNews,
    bornOn: toDay(row.bornOn),
    lastSpokenAt,
    company,
    stage: row.stage as ContactStage,
    createdAt,
    createdBy,
    changedAt,
    changedBy,
  };
};
