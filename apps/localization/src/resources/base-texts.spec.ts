import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { allProblems } from '@plinth/contracts/all';
import { formatFindings } from '@plinth/contracts/data-exchange/format-findings';
import * as exchange from '@plinth/contracts/data-exchange/shapes';
import { permissions } from '@plinth/contracts/permissions';
import * as settings from '@plinth/contracts/settings/shapes';
import * as template from '@plinth/contracts/template/shapes';
import * as timeline from '@plinth/contracts/timeline/shapes';
import * as workflow from '@plinth/contracts/workflow/shapes';
import { rowMessages } from '@plinth/exchange/row-message';
import { fallbackChain } from '../domain/culture';
import { languages } from '../domain/languages';
import { comparePlaceholders } from '@plinth/kernel/placeholders';
import { baseText, flatten, type ResourceFile } from '../domain/texts';
import { baseTexts, resourceFiles } from './base-texts';

const cultures = languages.map(({ cultureName }) => cultureName);
const textsOf = (resourceName: string, culture: string) => baseTexts[culture]?.[resourceName] ?? {};
const resources = Object.entries<readonly ResourceFile[]>(resourceFiles);

describe.each(resources)('the resource %s', (resourceName, files) => {
  it('is written in cultures of the platform only, each once, and in every file there is', () => {
    const written = files.map(({ culture }) => culture);
    expect(cultures).toEqual(expect.arrayContaining(written));
    expect(new Set(written).size).toBe(written.length);

    const folder = resourceName.replace(/(?<!^)[A-Z]/g, '-$&').toLowerCase();
    expect(readdirSync(join(__dirname, folder)).sort()).toEqual(
      written.map((culture) => `${culture}.json`).sort(),
    );
  });

  it('has every text in English and in French', () => {
    expect(Object.keys(textsOf(resourceName, 'fr')).sort()).toEqual(
      Object.keys(textsOf(resourceName, 'en')).sort(),
    );
  });

  it.each(['en-GB', 'fr-CA'])('has in %s only what differs from its language', (region) => {
    const [, language = ''] = fallbackChain(region);
    const common = textsOf(resourceName, language);
    for (const [key, text] of Object.entries(textsOf(resourceName, region))) {
      expect(common[key]).toBeDefined();
      expect(`${key}: ${text}`).not.toBe(`${key}: ${common[key]}`);
    }
  });

  it('has the same placeholders in every culture, and no empty text', () => {
    for (const culture of cultures) {
      for (const [key, text] of Object.entries(textsOf(resourceName, culture))) {
        expect([key, comparePlaceholders(textsOf(resourceName, 'en')[key]!, text)]).toEqual([key, undefined]);
        expect(text.trim()).not.toBe('');
        expect(text).toBe(text.normalize('NFC'));
      }
    }
  });

  it('has no two keys that flatten to the same', () => {
    for (const { texts } of files) {
      const count = JSON.stringify(texts).match(/":"/g)?.length ?? 0;
      expect(Object.keys(flatten(texts))).toHaveLength(count);
    }
  });
});

describe('the French texts of the platform', () => {
  it('have no breakable space before punctuation', () => {
    for (const culture of ['fr', 'fr-CA']) {
      const texts = Object.values(baseTexts[culture]!).flatMap((resource) => Object.values(resource));
      expect(texts.filter((text) => / [:;!?»]|« /.test(text))).toEqual([]);
      expect(texts.filter((text) => /\p{L}'\p{L}/u.test(text))).toEqual([]);
    }
  });

  it('call a tenant an organisation, and nobody who rents', () => {
    const texts = ['fr', 'fr-CA'].flatMap((culture) =>
      Object.values(baseTexts[culture]!).flatMap((resource) => Object.values(resource)),
    );
    expect(texts.filter((text) => /locataire/i.test(text))).toEqual([]);
  });

  it('have in Canada no space before ; ! ? and one that does not break before :', () => {
    const texts = resources.flatMap(([resourceName]) =>
      Object.values({ ...textsOf(resourceName, 'fr'), ...textsOf(resourceName, 'fr-CA') }),
    );
    // A text that ends with a semicolon shows the sign itself.
    expect(texts.filter((text) => /\s(?:[!?]|;(?!$))/.test(text))).toEqual([]);
    expect(texts.filter((text) => /(?<!\u00a0):(?:\s|$)/.test(text))).toEqual([]);
  });
});

describe('the texts of the platform', () => {
  const missingFrom = (culture: string, resourceName: string, keys: readonly string[]) =>
    keys.filter((key) => baseText(baseTexts, { resourceName, cultureName: culture, key }) === undefined);

  it('have a name for every permission', () => {
    expect(missingFrom('fr-CA', 'Permissions', permissions)).toEqual([]);
  });

  it('have every row message of the data owners, in every culture', () => {
    const expected = Object.entries(rowMessages).map(([key, text]) => [`rowErrors.${key}`, text]);
    const english = Object.entries({ ...textsOf('DataExchange', 'en') });
    expect(english.filter(([key]) => key.startsWith('rowErrors.'))).toEqual(expected);
  });

  it('explain everything that may be unusual about a file', () => {
    const expected = Object.entries(formatFindings).map(([key, text]) => [`findings.${key}`, text]);
    const english = Object.entries({ ...textsOf('DataExchange', 'en') });
    expect(english.filter(([key]) => key.startsWith('findings.'))).toEqual(expected);
  });

  it('have the title of every problem as in its catalogue, and in French', () => {
    const titles = Object.entries(allProblems).map(([slug, { title }]) => [slug, title]);
    expect(
      Object.entries({ ...textsOf('Problems', 'en') }).filter(([key]) => key.startsWith('types.')),
    ).toEqual(expect.arrayContaining(titles.map(([slug, title]) => [`types.${slug}`, title])));
    expect(
      missingFrom(
        'fr-CA',
        'Problems',
        titles.map(([slug]) => `types.${slug}`),
      ),
    ).toEqual([]);
  });

  it.each([
    ['Templating', 'status', Object.keys(template.TemplateLifecycleStatus)],
    ['Templating', 'format', Object.keys(template.DocumentFormat)],
    ['DataExchange', 'exportStatus', Object.values(exchange.ExportJobStatus)],
    ['DataExchange', 'exportPhase', Object.values(exchange.ExportPhase)],
    ['DataExchange', 'importStatus', Object.values(exchange.ImportJobStatus)],
    ['DataExchange', 'undoStatus', Object.values(exchange.ImportUndoStatus)],
    ['Console', 'operations.jobKind', Object.values(exchange.ExchangeJobKind)],
    ['DataExchange', 'keptRowReason', Object.values(exchange.KeptRowReason)],
    ['DataExchange', 'confidence', Object.values(exchange.MappingConfidence)],
    ['DataExchange', 'errorKind', Object.values(exchange.ImportRowErrorKind)],
    ['DataExchange', 'mode', Object.values(exchange.ImportMode)],
    ['DataExchange', 'onError', Object.values(exchange.OnError)],
    ['DataExchange', 'format', Object.values(exchange.ExportFormat)],
    ['Timeline', 'entryType', Object.keys(timeline.TimelineEntryType)],
    ['Timeline', 'notificationKind', Object.values(timeline.NotificationKind)],
    ['Settings', 'scope', settings.SettingScope.options],
    ['Settings', 'source', settings.SettingSource.options],
    ['Settings', 'change', settings.SettingChangeKind.options],
    ['Workflow', 'outcomes', Object.values(workflow.TransitionOutcome)],
    ['Workflow', 'states', [...Object.keys(workflow.WorkflowLifecycleStatus), workflow.PENDING_APPROVAL]],
    ['Workflow', 'approvalMode', Object.values(workflow.ApprovalMode)],
    ['Workflow', 'definitionScope', Object.values(workflow.DefinitionScope)],
  ])('have a text for every value of %s, %s', (resourceName, group, values) => {
    expect(
      missingFrom(
        'fr-CA',
        resourceName,
        values.map((value) => `${group}.${value}`),
      ),
    ).toEqual([]);
  });
});
