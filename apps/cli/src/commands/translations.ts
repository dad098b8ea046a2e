import { ApiProblem } from '@plinth/sdk/api-problem';
import type { Command } from 'commander';
import { CommandError, ExitCode } from '../exit-codes';
import { openSession, type Session } from '../session';
import { counted, table } from '../terminal';
import { readTexts, writeTexts, type TextUnit } from '../texts/text-file';

interface TranslationOptions {
  culture: string;
  source: string;
  resource?: string;
  dryRun?: boolean;
}

/** A batch of overrides has at most so many items. */
const BATCH_SIZE = 100;
const CHANGES_SHOWN = 50;

/** `translations pull` and `push`. */
export function addTranslations(program: Command): void {
  const translations = program
    .command('translations')
    .description('texts as a file for translators: .csv, .json, .po or .xlf');

  translations
    .command('pull')
    .description('write the texts of a language beside those of another')
    .argument('<file>', 'by its ending CSV, JSON, PO or XLIFF')
    .requiredOption('-c, --culture <code>', 'language to translate into')
    .option('--source <code>', 'language to translate from', 'en')
    .option('--resource <name>', 'one resource; all by default')
    .action(async (file: string, options: TranslationOptions, command: Command) => {
      const session = openSession(command);
      const units = await readUnits(session, options);
      writeTexts(file, { units, sourceCulture: options.source, targetCulture: options.culture });
      session.terminal.result({ file, count: units.length }, `${counted(units.length, 'text')} in ${file}`);
    });

  translations
    .command('push')
    .description('show which texts differ, and save them as texts of the tenant after a confirmation')
    .argument('<file>', 'by its ending CSV, JSON, PO or XLIFF')
    .requiredOption('-c, --culture <code>', 'language of the file')
    .option('--dry-run', 'only show what differs')
    .action(async (file: string, options: TranslationOptions, command: Command) => {
      await push(openSession(command), readTexts(file), options);
    });
}

type Resources = Record<string, Record<string, string>>;

async function textsOf({ localization, terminal }: Session, cultureName: string): Promise<Resources> {
  const { body, headers } = await localization.getLocalization({ query: { cultureName } });
  if (headers.has('x-localization-incomplete')) {
    terminal.note(
      `There are more texts of ${cultureName} than one response holds; the last ones are missing.`,
    );
    process.exitCode = ExitCode.Partly;
  }
  if (!isFoundFor(cultureName, body.currentCulture)) {
    terminal.note(`There are no texts of ${cultureName} yet.`);
    return {};
  }
  return body.resources;
}

/** Whether texts of a culture were found for another one, its own or those of a parent; else they are the default's. */
const isFoundFor = (asked: string, found: string): boolean =>
  `${asked}-`.toLowerCase().startsWith(`${found}-`.toLowerCase());

/** What the tenant has replaced by texts of its own, in the resources of these; of large ones where these differ. */
async function overridesOf(
  { localization }: Session,
  units: readonly TextUnit[],
  cultureName: string,
): Promise<Resources> {
  const overrides: [string, Record<string, string>][] = [];
  let stored: Resources | undefined;
  for (const [resourceName, ofResource] of Map.groupBy(units, ({ resource }) => resource)) {
    const all = await unless(
      413,
      localization.listLocalizationOverrides({ query: { resourceName, cultureName } }),
    );
    if (all) {
      overrides.push([resourceName, all.body]);
      continue;
    }
    stored ??= (await localization.getLocalization({ query: { cultureName } })).body.resources;
    const texts: [string, string][] = [];
    for (const { key } of differing(ofResource, stored)) {
      const params = { resourceName, cultureName, key };
      const one = await unless(404, localization.getLocalizationOverride({ params }));
      if (one) texts.push([key, one.body.value]);
    }
    overrides.push([resourceName, Object.fromEntries(texts)]);
  }
  return Object.fromEntries(overrides);
}

/** The response, or undefined where it is a problem with this status. */
async function unless<Result>(status: number, response: Promise<Result>): Promise<Result | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === status) return undefined;
    throw error;
  }
}

/** Texts that are not stored so; what nobody has translated yet stays as it is. */
const differing = (units: readonly TextUnit[], stored: Resources): TextUnit[] =>
  units.filter(({ resource, key, target }) => target !== '' && textOf(stored, resource, key) !== target);

const textOf = (resources: Resources, resource: string, key: string): string | undefined =>
  Object.hasOwn(resources, resource) && Object.hasOwn(resources[resource]!, key)
    ? resources[resource]![key]
    : undefined;

async function readUnits(session: Session, options: TranslationOptions): Promise<TextUnit[]> {
  const [sources, targets] = await Promise.all(
    [options.source, options.culture].map((culture) => textsOf(session, culture)),
  );
  if (Object.keys(sources!).length === 0) throw new CommandError(`There are no texts of ${options.source}.`);
  return Object.entries(sources!)
    .filter(([resource]) => options.resource === undefined || resource === options.resource)
    .flatMap(([resource, texts]) =>
      Object.entries(texts).map(([key, source]) => ({
        resource,
        key,
        source,
        target: textOf(targets!, resource, key) ?? '',
      })),
    );
}

/** Shows which texts differ, and saves them; what somebody else has changed since it was shown stays, and is listed. */
export async function push(
  session: Session,
  units: TextUnit[],
  { culture, dryRun }: TranslationOptions,
): Promise<void> {
  const { localization, terminal } = session;
  // Before what is shown, so that nothing is replaced that was not.
  const overrides = dryRun ? {} : await overridesOf(session, units, culture);
  const stored = await textsOf(session, culture);
  const changed = differing(units, stored);
  const rows = changed.map(({ resource, key, target }) => [
    `${resource} ${key}`,
    textOf(stored, resource, key),
    target,
  ]);
  if (rows.length > 0) terminal.note(table(['Text', 'Now', 'Then'], rows.slice(0, CHANGES_SHOWN)));
  if (rows.length > CHANGES_SHOWN) terminal.note(`… and ${rows.length - CHANGES_SHOWN} more.`);
  const refused: (string | number)[][] = [];
  if (changed.length > 0 && !dryRun) {
    await terminal.confirm(`Save ${changed.length} texts of ${culture}?`);
    for (let at = 0; at < changed.length; at += BATCH_SIZE) {
      const batch = changed.slice(at, at + BATCH_SIZE);
      const { body } = await localization.putLocalizationOverrides({
        body: {
          items: batch.map(({ resource, key, target }) => ({
            resourceName: resource,
            cultureName: culture,
            key,
            value: target,
            formerValue: textOf(overrides, resource, key) ?? null,
          })),
        },
      });
      body.results.forEach(({ isSuccess, error }, index) => {
        const { resource, key } = batch[index]!;
        if (!isSuccess) refused.push([`${resource} ${key}`, error?.detail ?? '']);
      });
    }
  }
  if (refused.length > 0) terminal.note(table(['Text', 'What is wrong'], refused));
  const saved = changed.length - refused.length;
  terminal.result(
    { changed: changed.length, saved: dryRun ? 0 : saved, refused },
    dryRun
      ? `${changed.length} of ${units.length} texts differ`
      : `${saved} of ${units.length} texts saved, ${refused.length} refused`,
  );
  if (refused.length > 0) process.exitCode = ExitCode.Partly;
}
