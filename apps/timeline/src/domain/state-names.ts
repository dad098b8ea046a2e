import type { SystemCulture } from './system-text';

const french = {
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

const frenchNames: ReadonlyMap<string, string> = new Map(Object.entries(french));

/**
 * What the states of the platform's own definitions are called, as in the resource `Workflow` of localization. English logs
 * call them as the interface does, but for what waits for approval: it is a state of no definition, and read by people only.
 */
export const stateNames: Partial<Record<SystemCulture, ReadonlyMap<string, string>>> = {
  en: new Map([['PendingApproval', 'Waiting for approval']]),
  fr: frenchNames,
  'fr-CA': frenchNames,
};
