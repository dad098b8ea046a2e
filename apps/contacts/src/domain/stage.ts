import type { ContactStage } from '@plinth/contracts/contacts/shapes';

export const CONTACT_ENTITY_TYPE = 'Contact';
export const COMPANY_ENTITY_TYPE = 'Company';

interface Reachable {
  email: string | null;
  phone: string | null;
}

/** What speaks against moving a contact to a stage, whoever wants it; workflow knows which moves there are. */
export function objectionTo({ email, phone }: Reachable, stage: ContactStage): string | undefined {
  if (stage === 'Active' && !email && !phone)
    return 'An active contact can be reached: give it an email or a phone number first.';
  return undefined;
}
