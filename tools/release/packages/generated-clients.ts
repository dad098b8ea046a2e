import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../development/launcher/servers/find-program.mjs';
import { sources } from '../../development/launcher/servers/sources.mjs';
import { findOrInstall } from '../../development/launcher/servers/strategies.mjs';
import { root } from '../../development/launcher/paths.mjs';
import { LauncherError } from '../../development/launcher/run.mjs';
import { manifestOf } from './npm-package.ts';

/** The options of the generator for each language; `name` is the package that users name. */
const languages = {
  python: { name: 'plinth_sdk', options: { projectName: 'plinth-sdk' } },
  csharp: { name: 'Plinth.Sdk', options: { library: 'httpclient', targetFramework: 'net8.0' } },
} as const;

export type Language = keyof typeof languages;
export const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);

/** What the generator makes for projects of their own. */
const unwanted = ['git_push.sh', 'appveyor.yml', 'tox.ini', '.travis.yml', '.gitlab-ci.yml', '.github/**'];

/**
 * Generates a client in another language from the OpenAPI document to `dist/sdk-<language>`, with openapi-generator from
 * the cache of this machine or from Maven Central; returns the folder. @throws LauncherError without Java
 */
export async function generateClient(language: Language): Promise<string> {
  const java = findProgram('java');
  if (java === undefined) throw new LauncherError('openapi-generator needs Java 11 or newer on the PATH.');
  const task = { doing: () => undefined, progress: () => undefined, result: () => undefined };
  const { program: generator } = await findOrInstall(sources['openapi-generator'], task);
  const { name, options } = languages[language];
  const folder = join(root, 'dist', `sdk-${language}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const document = join(folder, '.openapi.json');
  writeFileSync(document, JSON.stringify(documentForGenerators()));
  writeFileSync(join(folder, '.openapi-generator-ignore'), `${unwanted.join('\n')}\n`);
  const properties = {
    packageName: name,
    packageVersion: manifestOf('libs/sdk').version,
    hideGenerationTimestamp: 'true',
    ...options,
  };
  const given = Object.entries(properties).map((entry) => entry.join('='));
  const args = [
    // It runs for seconds: compiling it well would take longer.
    '-XX:TieredStopAtLevel=1',
    ...['-jar', generator, 'generate', '--generator-name', language, '--input-spec', document],
    ...['--output', folder, '--additional-properties', given.join(',')],
    ...['--global-property', 'apiTests=false,modelTests=false'],
  ];
  execFileSync(java, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(document);
  return folder;
}

interface Operation {
  requestBody?: { content: Record<string, { schema?: { anyOf?: object[] } }> };
}

/** The document without bodies that may be anything and that nothing reads: generators have no name for their type. */
function documentForGenerators(): object {
  const document = JSON.parse(readFileSync(join(root, 'openapi', 'plinth.json'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    const choices = operation.requestBody?.content['application/json']?.schema?.anyOf ?? [];
    if (choices.some((choice) => Object.keys(choice).length === 0)) delete operation.requestBody;
  }
  return document;
}
