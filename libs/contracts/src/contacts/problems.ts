import { defineProblems } from '@plinth/kernel/problem';

export const contactsProblems = defineProblems({
  'contact-not-found': {
    kind: 'not-found',
    title: 'Contact not found',
    explanation: 'There is no contact of this id that you may see. It may have been deleted.',
  },
  'company-not-found': {
    kind: 'not-found',
    title: 'Company not found',
    explanation: 'There is no company of this id that you may see. It may have been deleted.',
  },
  'external-id-taken': {
    kind: 'conflict',
    title: 'External id taken',
    explanation:
      'Another contact or company of the tenant has this external id; change that one, or use another id.',
  },
  'company-in-use': {
    kind: 'conflict',
    title: 'Company in use',
    explanation: 'Contacts belong to this company. Delete them, or give them another company, first.',
  },
});
