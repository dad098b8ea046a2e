type Names = Readonly<Record<string, string>>;

const english: Names = {
  Draft: 'Draft',
  PendingReview: 'In review',
  Published: 'Published',
  Archived: 'Archived',
  PendingApproval: 'Waiting for approval',
  Submitted: 'Submitted',
  Approved: 'Approved',
  Paid: 'Paid',
  Cancelled: 'Canceled',
  Prospect: 'Prospect',
  Active: 'Active',
};

const french: Names = {
  Draft: 'Brouillon',
  PendingReview: 'En révision',
  Published: 'Publié',
  Archived: 'Archivé',
  PendingApproval: 'En attente d’approbation',
  Submitted: 'Soumis',
  Approved: 'Approuvé',
  Paid: 'Payé',
  Cancelled: 'Annulé',
  Prospect: 'Prospect',
  Active: 'Actif',
};

const namesIn = (names: Names): ReadonlyMap<string, string> => new Map(Object.entries(names));

/** What the states of the platform's own definitions are called, as in the resource `Workflow` of localization. */
export const stateNames = {
  en: namesIn(english),
  'en-GB': namesIn({ ...english, Cancelled: 'Cancelled' }),
  fr: namesIn(french),
  'fr-CA': namesIn(french),
};
