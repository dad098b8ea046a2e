import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { eventually } from '@plinth/testing/eventually';
import { parse } from 'yaml';
import { startJourneyAlone, type LoneJourney } from './platform';

const root = join(__dirname, '../../..');
const TENANT_ID = '01900000-0000-7000-8000-00000000d301';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  process: string;
}

let collector: Server;
const spans: Span[] = [];
let journey: LoneJourney;
let token: string;

beforeAll(async () => {
  collector = createServer((request, response) => {
    void text(request).then((body) => {
      spans.push(...spansIn(JSON.parse(body) as OtlpTraces));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  journey = await startJourneyAlone({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  token = await journey.tokenOf({ sub: 'operator', tenantId: TENANT_ID, roles: ['admin'] });
}, 300_000);

afterAll(async () => {
  await journey.end();
  collector.close();
}, 120_000);

interface OtlpTraces {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<Span, 'process'>[] }[];
  }[];
}

const spansIn = ({ resourceSpans }: OtlpTraces): Span[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const process = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, process })));
  });

const isOurs = ({ name }: { name: string }): boolean =>
  !['postgres', 'redis', 'nats', 'temporal'].includes(name);

const processes = () =>
  (
    JSON.parse(readFileSync(join(journey.platform.dataDirectory, 'processes.json'), 'utf8')) as {
      processes: { name: string; probe: { url: string } }[];
    }
  ).processes.filter(isOurs);

const namesIn = (expression: string): string[] =>
  [...expression.replace(/\{[^}]*\}/g, '').matchAll(/\b((plinth|nodejs|process)_[a-z0-9_]+)\b/g)].map(
    ([, name]) => name!,
  );

describe('the metrics of all processes', () => {
  let exposed: Set<string>;

  beforeAll(async () => {
    const texts = await Promise.all(
      processes().map(async ({ probe }) => (await fetch(probe.url.replace('readyz', 'metrics'))).text()),
    );
    exposed = new Set(
      texts.flatMap((text) => [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!)),
    );
  });

  it('have names that begin with plinth_, or are those of Node.js', () => {
    expect([...exposed].filter((name) => !/^(plinth|nodejs|process)_[a-z0-9_]+$/.test(name))).toEqual([]);
    expect([...exposed].filter((name) => name.startsWith('plinth_')).length).toBeGreaterThan(15);
  });

  it('exist for every alert and every panel of the dashboard', () => {
    const read = (name: string) => readFileSync(join(root, 'k8s/components/monitoring', name), 'utf8');
    const rules: { groups: { rules: { expr: string }[] }[] } = parse(read('alerts.yaml')).spec;
    const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(read('dashboard.json'));
    const expressions = [
      ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ];
    const asked = expressions.flatMap(namesIn).map((name) => name.replace(/_(bucket|count|sum)$/, ''));
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((name) => !exposed.has(name))).toEqual([]);
  });
});

describe('a distributed trace', () => {
  it('follows a request from the gateway through services, gRPC calls, events and jobs', async () => {
    const headers = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
    const made = await journey.call('POST', '/api/v1/exports/jobs', {
      token,
      headers,
      body: { definitionName: 'Localization.Overrides', format: 'csv', includeIdForImport: false },
    });
    expect(made.status).toBe(202);

    const expected = [
      ['gateway', 'POST data-exchange.createExportJob'],
      ['data-exchange', 'POST data-exchange.createExportJob'],
      ['data-exchange-worker', 'activity runExport'],
      ['localization', '/plinth.exchange.v1.ExchangeOwner/Export'],
      ['timeline', 'apply data-exchange.export-finished'],
    ];
    const seen = () =>
      spans.filter(({ traceId }) => traceId === TRACE_ID).map(({ process, name }) => [process, name]);
    await eventually(() => {
      expect(seen()).toEqual(expect.arrayContaining(expected));
      return true;
    }, 60_000);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const orphans = spans.filter(
      ({ traceId, parentSpanId, process }) =>
        traceId === TRACE_ID && process !== 'gateway' && !ids.has(parentSpanId ?? ''),
    );
    expect(orphans).toEqual([]);
  }, 90_000);
});

describe('the logs of all processes', () => {
  it('have one JSON object per line, with time, level, process and message', () => {
    for (const { name } of processes()) {
      const log = readFileSync(join(journey.platform.dataDirectory, 'logs', `${name}.log`), 'utf8');
      for (const line of log.trim().split('\n'))
        expect(JSON.parse(line)).toMatchObject({
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          level: expect.any(Number),
          process: name,
          msg: expect.any(String),
        });
    }
  });
});

describe('npm run status', () => {
  it('shows the health of each process, and the age of each queue', async () => {
    const script = join(root, 'tools/development/launcher/status.mjs');
    const args = [script, '--data', journey.platform.dataDirectory];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    for (const { name } of processes()) expect(stdout).toMatch(new RegExp(`^${name} .* healthy$`, 'm'));
    expect(stdout).toMatch(/^settings +events to publish +\d+ +(-|\d+ s)$/m);
    expect(stdout).toMatch(/^timeline +dead letters +0 +-$/m);
    expect(stdout).toMatch(/^data-exchange +jobs: import +0 +-$/m);
    expect(stdout).toMatch(/^pdf-renderer +work: pdf +0 +-$/m);
  });
});
