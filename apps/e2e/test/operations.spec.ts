import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { startS3Server, type S3Server } from '@plinth/testing/s3-server';
import { parse } from 'yaml';
import { filesOf } from './files';
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

const s3 = findOrInstall('s3');

let collector: Server;
const spans: Span[] = [];
/** Where files are stored; without a program for it on the disk. */
let store: S3Server | undefined;
/** For whom the platform was started. */
let parent: ChildProcess;
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
  store = s3 === undefined ? undefined : await startS3Server(s3);
  parent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)']);
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    ...(store && { BLOB_URL: store.url }),
  };
  journey = await startJourneyAlone(environment, parent.pid);
  token = await journey.tokenOf({ sub: 'operator', tenantId: TENANT_ID, roles: ['admin'] });
});

afterAll(async () => {
  parent?.kill();
  await journey?.end();
  await store?.stop();
  collector.close();
});

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
    });
    // Each process sends its spans when it likes: a parent may come after its children.
    await eventually(() => {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      const orphans = spans.filter(
        ({ traceId, parentSpanId, process }) =>
          traceId === TRACE_ID && process !== 'gateway' && !ids.has(parentSpanId ?? ''),
      );
      expect(orphans).toEqual([]);
      return true;
    });
  });
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
    // Of shared places only those that work waits for.
    expect(stdout).not.toMatch(/^pdf-renderer +work: pdf +0/m);
  });
});

const companies = [
  'External id,Name,Kind,Active',
  'C-1,"Analytical, Engines",Customer,true',
  'C-2,Difference Ltd,Supplier,false',
  'C-3,Silly Walks,Ministry,true',
].join('\r\n');
const definitionName = 'Contacts.Companies';
const selectedFields = ['externalId', 'name', 'kind', 'isActive'];

(s3 === undefined ? describe.skip : describe)(
  'files in a bucket of an S3 server, through the platform',
  () => {
    let files: ReturnType<typeof filesOf>;
    const tenantId = newId();
    beforeAll(async () => {
      files = filesOf(journey, await journey.tokenOf({ tenantId }));
    });

    const keysInBucket = async (): Promise<string[]> => {
      const endpoint = new URL(store!.url).searchParams.get('endpoint') ?? '';
      const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'plinth' }));
      return Contents.map(({ Key }) => Key ?? '');
    };

    it('are imported, and failed rows are returned in a correction file as they were written', async () => {
      const file = new File([companies], 'companies.csv');

      const { id, report } = await files.importFile(definitionName, file);

      expect(report).toMatchObject({ finalStatus: 'PartiallyCompleted', insertedRows: 2, failedRows: 1 });
      const correction = (await files.download(`/imports/${id}/correction-file`)).toString();
      expect(correction).toMatch(
        /^\uFEFF?External id,Name,Kind,Active,_Errors\r\nC-3,Silly Walks,Ministry,true,.+\r\n$/,
      );
      // The upload is deleted once the job has ended.
      await eventually(async () => !(await keysInBucket()).some((key) => key.includes(tenantId)));
    });

    it('are exported as CSV and as a workbook that can be imported again', async () => {
      const request = { definitionName, selectedFields, sort: 'externalId' };

      const text = await files.exportFile({ ...request, format: 'csv' });
      const workbook = await files.exportFile({ ...request, format: 'xlsx' });

      expect(
        text
          .toString()
          .replace(/^\uFEFF/, '')
          .trimEnd(),
      ).toBe(companies.split('\r\n').slice(0, 3).join('\r\n'));
      const { report } = await files.importFile(definitionName, new File([workbook], 'companies.xlsx'));
      expect(report).toMatchObject({ finalStatus: 'Completed', updatedRows: 2 });
      expect((await keysInBucket()).filter((key) => key.includes(`${tenantId}/exports/`))).toHaveLength(2);
    });

    it('are attached to timelines, read by others, and deleted with their entry', async () => {
      const note = new File(['Two of three parts have arrived.'], 'delivery.txt');
      const { id } = (await (await files.upload('/blobs', note)).json()) as { id: string };
      const entry = { entryType: 0, body: 'See the delivery.', attachmentBlobIds: [id] };
      const written = (await files.http('POST', '/timeline/Invoice/4711/entries', entry)).body;

      expect((await files.download(`/blobs/${id}`)).toString()).toBe(await note.text());
      expect((await keysInBucket()).filter((key) => key.includes(id))).toHaveLength(1);
      expect((await files.http('DELETE', `/timeline/Invoice/4711/entries/${written.id}`)).status).toBe(204);
      expect((await files.http('GET', `/blobs/${id}`)).status).toBe(404);
    });

    it('are downloaded from where a download was cut', async () => {
      const text = 'Two of three parts have arrived.';
      const { id } = (await (await files.upload('/blobs', new File([text], 'x.txt'))).json()) as {
        id: string;
      };
      const token = await journey.tokenOf({ tenantId });
      const get = (headers: Record<string, string>) =>
        fetch(`${journey.url}/api/v1/blobs/${id}`, {
          headers: { authorization: `Bearer ${token}`, ...headers },
        });
      const etag = (await get({})).headers.get('etag') ?? '';

      const rest = await get({ range: 'bytes=7-', 'if-range': etag });
      expect([rest.status, rest.headers.get('content-range'), await rest.text()]).toEqual([
        206,
        `bytes 7-${text.length - 1}/${text.length}`,
        text.slice(7),
      ]);
      expect((await get({ range: 'bytes=999-' })).status).toBe(416);
    });

    it('are refused with 502 while the S3 server is down, and everything else goes on', async () => {
      const request = { definitionName, selectedFields, sort: 'externalId', format: 'csv' };
      const { id: exported } = await files.exportJob(request);
      const { id: imported } = await files.mappedImport(
        definitionName,
        new File([companies], 'companies.csv'),
      );
      await store!.crash();

      const refused = await Promise.all([
        files.upload('/blobs', new File(['x'], 'x.txt')),
        files.http('GET', `/exports/jobs/${exported}/download`),
        files.http('POST', `/imports/${imported}/dry-run`),
      ]);

      expect(refused.map(({ status }) => status)).toEqual([502, 502, 502]);
      expect(refused[0]!.headers.get('content-type')).toBe('application/problem+json');
      const entry = { entryType: 0, body: 'Without a file.' };
      expect((await files.http('POST', '/timeline/Invoice/4711/entries', entry)).status).toBe(201);
      expect((await files.http('GET', '/exports/jobs')).status).toBe(200);
      const ready = await fetch(`${journey.url}/readyz`);
      expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('"timeline":"up"')]);
    });
  },
);

describe('a platform that was started for a process', () => {
  it('stops when that process was killed', async () => {
    const state = join(journey.platform.dataDirectory, 'processes.json');
    const pid = journey.platform.processIds()['gateway']!;
    expect(existsSync(state)).toBe(true);
    parent.kill('SIGKILL');
    await eventually(() => !existsSync(state));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
