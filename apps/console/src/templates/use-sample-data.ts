import type { TemplateKey } from '../api/templates';
import { keep, useStoredState } from '../components/stored-state';
import type { Data } from './sample-data';

const storageKey = ({ name, culture }: TemplateKey) => `template-sample ${name}~${culture ?? ''}`;

/** The data that a template is looked at with in this window; null until somebody wrote some. */
export const useSampleData = (key: TemplateKey) => useStoredState<Data | null>(storageKey(key), null);

/** Gives a template its sample data before its page is opened. */
export const rememberSample = (key: TemplateKey, data: Data): void => keep(storageKey(key), data);
