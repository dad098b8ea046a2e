import { ContactStage } from '@plinth/contracts/contacts/shapes';

export const CONTACT_ENTITY_TYPE = 'Contact';
export const COMPANY_ENTITY_TYPE = 'Company';

interface Reachable {
  email: string | null;
  phone: string | null;
}

/** Why a contact cannot reach a stage, for any caller; workflow knows which transitions there are. */
export function objectionTo({ email, phone }: Reachable, stage: ContactStage): string | undefined {
  if (stage === 'Active' && !email && !phone)
    return 'An active contact can be reached: give it an email or a phone number first.';
  return undefined;
}

export const objectionsTo = (contact: Reachable): { stage: ContactStage; reason: string }[] =>
  Object.values(ContactStage).flatMap((stage) => {
    const reason = objectionTo(contact, stage);
    return reason === undefined ? [] : [{ stage, reason }];
  });

/** A transition that workflow has decided on. */
export interface StageTransition {
  /** The same for every attempt. */
  id: string;
  contactId: string;
  from: string;
  to: ContactStage;
  comment: string | null;
  /** After which it is not applied any more; null where it may be applied at any time. */
  notAfter: Date | null;
}

/** What became of a transition, and the stage afterwards. */
export type TransitionResult =
  | { applied: true; stage: string; appliedBy: string }
  /** With a reason where a change of the contact would help. */
  | { applied: false; stage: string | undefined; reason?: string };

/** Why a transition cannot be applied to a contact now; undefined where it can be. */
export function refusalOf(
  contact: (Reachable & { stage: string }) | null,
  { from, to, notAfter }: StageTransition,
  now: Date,
): TransitionResult | undefined {
  // Its request for approval may have ended without it.
  const isLate = notAfter !== null && now > notAfter;
  if (contact?.stage !== from || isLate) return { applied: false, stage: contact?.stage };
  const reason = objectionTo(contact, to);
  return reason === undefined ? undefined : { applied: false, stage: from, reason };
}
