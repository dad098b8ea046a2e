import type { EventType } from '@plinth/kernel/event';
import { dataExchangeEvents } from './data-exchange/events';
import { overrideChanged } from './localization/events';
import { settingsEvents } from './settings/events';
import { templateEvents } from './template/events';
import { timelineEvents } from './timeline/events';
import { workflowEvents } from './workflow/events';
import { contactsEvents } from './contacts/events';

/** The catalogue: every event that a service publishes. */
export const allEvents: readonly EventType[] = [
  ...Object.values(dataExchangeEvents),
  overrideChanged,
  ...Object.values(settingsEvents),
  ...Object.values(templateEvents),
  ...Object.values(timelineEvents),
  ...Object.values(workflowEvents),
  ...Object.values(contactsEvents),
];
