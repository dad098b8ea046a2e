import { formatMessage, type MessageValue } from '@plinth/kernel/message';
import type { Entry, SystemMessage } from './entry';
import { stateNames } from './state-names';

/** The cultures of system logs. */
export const systemCultures = ['en', 'en-GB', 'fr', 'fr-CA'] as const;
export type SystemCulture = (typeof systemCultures)[number];
export const defaultCulture: SystemCulture = 'en';

type Texts = Record<string, string>;

// Older entries have numbers of rows among their values. No text shows them: who reads timelines may not see the rows.

const english: Texts = {
  'workflow.moved': 'Moved from {previousState} to {newState}.',
  'workflow.moved-with-comment': 'Moved from {previousState} to {newState}: {comment}',
  'workflow.approval-overtaken':
    'The request for approval was overtaken: what it was made for has been changed, moved or deleted since. Back to {newState}.',
  'workflow.approval-denied': 'Approval denied, back to {newState}.',
  'workflow.approval-denied-with-comment': 'Approval denied, back to {newState}: {comment}',
  'workflow.approval-withdrawn': 'Request for approval withdrawn, back to {newState}.',
  'workflow.approval-withdrawn-with-comment': 'Request for approval withdrawn, back to {newState}: {comment}',
  'workflow.approval-expired': 'Request for approval expired, back to {newState}.',
  'template.published': 'Published.',
  // The text comes with the event of the service that owns the entity.
  'entity.noted': '{en}',
  'settings.changed-for-tenant': 'Changed for the tenant.',
  'settings.changed-for-platform': 'Changed for the whole platform.',
  'exchange.export-completed': 'Export of {definitionName} completed.',
  // Of a version before.
  'exchange.export-completed-uncounted': 'Export of {definitionName} completed.',
  'exchange.export-failed': 'Export of {definitionName} failed.',
  'exchange.import-completed': 'Import of {definitionName} completed.',
  'exchange.import-partially-completed': 'Import of {definitionName} partially completed.',
  'exchange.import-failed': 'Import of {definitionName} failed.',
  'exchange.import-cancelled': 'Import of {definitionName} cancelled.',
  'exchange.import-undone': 'Import of {definitionName} undone.',
  'exchange.import-partially-undone': 'Import of {definitionName} partially undone.',
  'exchange.import-undo-failed': 'Import of {definitionName} could not be undone.',
  'notification.mention': '{actorName} mentioned you',
  'notification.comment': 'New comment on {entityType} {entityId}',
  'notification.internal-note': 'New internal note on {entityType} {entityId}',
  'notification.system-log': 'Update on {entityType} {entityId}',
};

const french: Texts = {
  'workflow.moved': 'Passé de « {previousState} » à « {newState} ».',
  'workflow.moved-with-comment': 'Passé de « {previousState} » à « {newState} » : {comment}',
  'workflow.approval-overtaken':
    'La demande d’approbation est caduque : ce qu’elle concernait a été modifié, déplacé ou supprimé depuis. Retour à « {newState} ».',
  'workflow.approval-denied': 'Approbation refusée, retour à « {newState} ».',
  'workflow.approval-denied-with-comment': 'Approbation refusée, retour à « {newState} » : {comment}',
  'workflow.approval-withdrawn': 'Demande d’approbation retirée, retour à « {newState} ».',
  'workflow.approval-withdrawn-with-comment':
    'Demande d’approbation retirée, retour à « {newState} » : {comment}',
  'workflow.approval-expired': 'Demande d’approbation expirée, retour à « {newState} ».',
  'template.published': 'Publié.',
  'entity.noted': '{fr}',
  'settings.changed-for-tenant': 'Modifié pour l’organisation.',
  'settings.changed-for-platform': 'Modifié pour toute la plateforme.',
  'exchange.export-completed': 'Export de {definitionName} terminé.',
  'exchange.export-completed-uncounted': 'Export de {definitionName} terminé.',
  'exchange.export-failed': 'Échec de l’export de {definitionName}.',
  'exchange.import-completed': 'Import de {definitionName} terminé.',
  'exchange.import-partially-completed': 'Import de {definitionName} terminé en partie.',
  'exchange.import-failed': 'Échec de l’import de {definitionName}.',
  'exchange.import-cancelled': 'Import de {definitionName} annulé.',
  'exchange.import-undone': 'Import de {definitionName} défait.',
  'exchange.import-partially-undone': 'Import de {definitionName} défait en partie.',
  'exchange.import-undo-failed': 'L’import de {definitionName} n’a pas pu être défait.',
  'notification.mention': '{actorName} vous a mentionné',
  'notification.comment': 'Nouveau commentaire sur {entityType} {entityId}',
  'notification.internal-note': 'Nouvelle note interne sur {entityType} {entityId}',
  'notification.system-log': 'Du nouveau sur {entityType} {entityId}',
};

// In Canada an import is an "importation" and an export an "exportation".
const canadianFrench: Texts = {
  ...french,
  'exchange.export-completed': 'Exportation de {definitionName} terminée.',
  'exchange.export-completed-uncounted': 'Exportation de {definitionName} terminée.',
  'exchange.export-failed': 'Échec de l’exportation de {definitionName}.',
  'exchange.import-completed': 'Importation de {definitionName} terminée.',
  'exchange.import-partially-completed': 'Importation de {definitionName} terminée en partie.',
  'exchange.import-failed': 'Échec de l’importation de {definitionName}.',
  'exchange.import-cancelled': 'Importation de {definitionName} annulée.',
  'exchange.import-undone': 'Importation de {definitionName} défaite.',
  'exchange.import-partially-undone': 'Importation de {definitionName} défaite en partie.',
  'exchange.import-undo-failed': 'L’importation de {definitionName} n’a pas pu être défaite.',
};

export const systemTexts: Record<SystemCulture, Texts> = {
  en: english,
  'en-GB': english,
  fr: french,
  'fr-CA': canadianFrench,
};

/**
 * The body of an entry in a culture; what people wrote is the same in every culture. Beside a newer version of this
 * service there may be texts that only that one has: their body is what it wrote.
 */
export const bodyIn = (culture: SystemCulture, { body, message }: Pick<Entry, 'body' | 'message'>): string =>
  message && Object.hasOwn(systemTexts[culture], message.key) ? localizeMessage(message, culture) : body;

/** The text of a system log in a culture. */
export function localizeMessage({ key, values }: SystemMessage, culture: SystemCulture): string {
  const nameOf = (state: MessageValue) => stateNames[culture]?.get(String(state)) ?? state;
  const { previousState, newState } = values;
  const shown = { ...values, previousState: nameOf(previousState), newState: nameOf(newState) };
  return formatMessage(systemTexts[culture][key] ?? key, shown, { culture });
}

/** The first of a reader's preferred cultures that has system texts; `fr-BE` finds `fr`. */
export const chooseCulture = (preferred: readonly string[]): SystemCulture =>
  preferred.map(nearest).find((culture) => culture !== undefined) ?? defaultCulture;

const nearest = (preferred: string): SystemCulture | undefined =>
  systemCultures.find((culture) => culture === preferred) ??
  systemCultures.find((culture) => culture === preferred.split('-')[0]);
