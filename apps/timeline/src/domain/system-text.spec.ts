import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messagePlaceholders } from '@plinth/kernel/message';
import { stateNames } from './state-names';
import { bodyIn, chooseCulture, systemCultures, systemTexts } from './system-text';

describe('texts of system logs', () => {
  it.each(systemCultures)('are complete in %s, with the same placeholders', (culture) => {
    // A noted entity brings its words in each language, under the name of that language.
    const placeholders = (text = '') => messagePlaceholders(text.replace(/^\{(en|fr)\}$/, '{words}'));
    expect(Object.keys(systemTexts[culture])).toEqual(Object.keys(systemTexts.en));
    for (const [key, text] of Object.entries(systemTexts[culture])) {
      expect(placeholders(text)).toEqual(placeholders(systemTexts.en[key]));
    }
  });

  it('insert values without interpreting them', () => {
    const message = { key: 'workflow.moved', values: { previousState: '{newState}', newState: '$& <b>' } };
    expect(bodyIn('en', { body: '', message })).toBe('Moved from {newState} to $& <b>.');
  });

  it.each([
    ['en', 'Moved from PendingReview to Cancelled.'],
    ['fr', 'Passé de « En révision » à « Annulé ».'],
  ] as const)('name states of the platform in %s', (culture, text) => {
    const message = {
      key: 'workflow.moved',
      values: { previousState: 'PendingReview', newState: 'Cancelled' },
    };
    expect(bodyIn(culture, { body: '', message })).toBe(text);
  });

  it('say in English too that something waits for approval, which is a state of no definition', () => {
    const values = { previousState: 'Draft', newState: 'PendingApproval' };
    const message = { key: 'workflow.moved', values };
    expect(bodyIn('en', { body: '', message })).toBe('Moved from Draft to Waiting for approval.');
  });

  it('are the body where a newer version wrote a text that this one does not know', () => {
    for (const key of ['invoice.archived', 'constructor'])
      expect(bodyIn('fr', { body: 'Archived.', message: { key, values: {} } })).toBe('Archived.');
  });

  it('call states of a tenant as the tenant wrote them', () => {
    const message = {
      key: 'workflow.moved',
      values: { previousState: 'constructor', newState: 'Verliehen' },
    };
    expect(bodyIn('fr', { body: '', message })).toBe('Passé de « constructor » à « Verliehen ».');
  });

  it.each(['fr', 'fr-CA'] as const)('name states in %s as localization does', (culture) => {
    const folder = join(__dirname, '../../../localization/src/resources/workflow');
    const namesIn = (culture: string) => {
      const file = join(folder, `${culture}.json`);
      // A region has a file only where it differs from its language.
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')).texts.states ?? {}) : {};
    };
    expect(Object.fromEntries(stateNames[culture]!)).toEqual({
      ...namesIn(culture.slice(0, 2)),
      ...namesIn(culture),
    });
  });

  it.each(systemCultures)('tell in %s no numbers of rows, also where an older entry has them', (culture) => {
    const values = {
      definitionName: 'Settings.Values',
      rowCount: 4711,
      totalRows: 4711,
      succeededRows: 4711,
      failedRows: 4711,
      removedRows: 4711,
      restoredRows: 4711,
      keptRows: 4711,
    };
    for (const key of Object.keys(systemTexts[culture]).filter((name) => name.startsWith('exchange.'))) {
      const body = bodyIn(culture, { body: '', message: { key, values } });
      expect(body).toContain('Settings.Values');
      expect(body).not.toMatch(/\d/);
    }
  });

  it.each([
    [[], 'en'],
    [['fr-BE', 'en'], 'fr'],
    [['de', 'en-GB', 'fr-CA'], 'en-GB'],
    [['fr-CA', 'en'], 'fr-CA'],
    [['de'], 'en'],
  ])('for a reader who prefers %j are in %s', (wishes, culture) => {
    expect(chooseCulture(wishes)).toBe(culture);
  });
});
