import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { fragmentsOf, runSteps, stepsOf, type Step, type StepResult } from './page-script';
import { startJourney, type Journey } from './platform';

const root = join(__dirname, '../../..');
const services = readdirSync(join(root, 'docs/areas')).map((name) => `docs/areas/${name}`);
const demoTenant = '01900000-0000-7000-8000-00000000d301';

/** How a response differs from what the page shows of it; undefined where it does not. */
function differenceOf(
  { shown, document }: Step,
  { exitCode, statuses, output }: StepResult,
): string | undefined {
  if (exitCode !== 0) return `ends with ${exitCode}`;
  const expected = shown.join('\n');
  const refusals = statuses.filter((status) => !/^[123]\d\d$/.test(status) && status !== '');
  const surprise = refusals.find((status) => !expected.includes(status));
  if (surprise) return `is ${surprise}`;
  const status = /^\d{3}\b/.exec(expected)?.[0];
  if (status && !statuses.includes(status)) return `is ${statuses.join(', ')}, not ${status}`;
  if (!contains(output, expected.slice(status?.length ?? 0))) return 'has another response';
  if (document) expect(JSON.parse(output)).toEqual(matcherOf(JSON.parse(document)));
  return undefined;
}

/** Whether everything that is shown is there in this order. */
function contains(output: string, shown: string): boolean {
  let rest = output;
  for (const fragment of fragmentsOf(shown)) {
    const at = rest.indexOf(fragment);
    if (at < 0) return false;
    rest = rest.slice(at + fragment.length);
  }
  return true;
}

/** A matcher for what a page shows of a document: it may omit members, items, and parts of texts. */
function matcherOf(shown: unknown): unknown {
  if (Array.isArray(shown)) return expect.arrayContaining(shown.map(matcherOf));
  if (typeof shown === 'string' && shown.includes('…')) {
    return expect.stringMatching(new RegExp(`^${shown.split('…').map(literally).join('.*')}$`));
  }
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, matcherOf(value)])),
  );
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

let journey: Journey;
beforeAll(async () => {
  journey = await startJourney();
});

describe('the commands of the documentation', () => {
  const programs = mkdtempSync(join(tmpdir(), 'plinth-programs-'));
  afterAll(() => rmSync(programs, { recursive: true }));
  beforeAll(() => {
    // The commands call `plinth` as npm installs it.
    const cli = join(programs, 'package');
    execFileSync(join(root, 'node_modules/.bin/node'), ['tools/release/packages/cli.ts', cli], { cwd: root });
    const install = ['install', '--offline', '--install-links', '--no-audit', '--no-fund', '--prefix'];
    execFileSync('npm', [...install, programs, cli], { cwd: programs });
  });

  // As to somebody who reads one page after the other: what a page leaves behind must not surprise on the next one.
  const tenantId = newId();

  it.each(['README.md', ...services, 'docs/command-line.md'])(
    'in %s have the responses that the page shows',
    async (page) => {
      const markdown = readFileSync(join(root, page), 'utf8')
        .replaceAll(demoTenant, tenantId)
        .replaceAll(/(http:\/\/)?localhost:8080/g, journey.url);
      const steps = stepsOf(markdown);
      const results = await runSteps(steps, [join(programs, 'node_modules/.bin')]);

      const differences = steps.flatMap((step, index) => {
        const result = results[index]!;
        const difference = differenceOf(step, result);
        return difference
          ? [`${step.commands}${difference}:\n${result.output}\n${result.statuses.join(' ')}`]
          : [];
      });
      expect(differences.join('\n\n')).toBe('');
      expect(steps).not.toEqual([]);
    },
  );
});

describe('the page of settings', () => {
  it('has every setting of the platform, with its levels', async () => {
    const token = await journey.tokenOf({ tenantId: newId(), roles: ['admin'] });
    const { body: definitions } = await journey.call('GET', '/api/v1/settings/definitions', { token });
    const page = readFileSync(join(root, 'docs/areas/settings.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(Service\.[\w.]+)` +\|[^|]*\| ([\w, ]+?) +\|$/gm)];

    expect(rows.map(([, name, levels]) => `${name}: ${levels}`).sort()).toEqual(
      (definitions as { name: string; scopes: string[] }[])
        .map(({ name, scopes }) => `${name}: ${scopes.join(', ')}`)
        .sort(),
    );
  });
});

describe('the examples of the API reference', () => {
  interface Operation {
    parameters?: { in?: string; name: string; example?: string }[];
    requestBody?: { content: Record<string, { example?: unknown }> };
  }

  it('are accepted as they are by a tenant that is new', async () => {
    const admin = await journey.tokenOf({ tenantId: newId(), roles: ['admin'] });
    const operator = await journey.tokenOf({ tenantId: HOST_TENANT_ID, roles: ['admin'] });
    const { body: document } = await journey.call('GET', '/openapi.json');
    const refusals: string[] = [];
    for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
        const content = requestBody?.content['application/json'];
        if (!content) continue;
        const inPath = parameters.filter((parameter) => parameter.in === 'path');
        const address = inPath.reduce(
          (rest, { name, example }) => rest.replace(`{${name}}`, encodeURIComponent(example!)),
          path,
        );
        const { status, text } = await journey.call(method.toUpperCase(), address, {
          token: path.startsWith('/operations') ? operator : admin,
          body: content.example,
        });
        // An example knows neither which things exist nor when a delegation would be over.
        if (status >= 400 && status !== 404 && !path.endsWith('/delegations'))
          refusals.push(`${method} ${address}: ${status} ${text}`);
      }
    }
    expect(refusals).toEqual([]);
  });
});
