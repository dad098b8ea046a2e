import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allEndpoints } from '@plinth/contracts/all';
import type { Endpoint } from '@plinth/contracts/endpoint';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { Registry } from 'prom-client';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { GatewayMetrics } from '../../../apps/gateway/src/metrics';
import { Breaker } from '../../../apps/gateway/src/proxy/breaker';
import type { Upstream } from '../../../apps/gateway/src/proxy/upstream';
import type { RequestContext } from '../../../apps/gateway/src/request-context';
import { RequestHistory } from '../../../apps/gateway/src/request-history';

const root = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Alert {
  alert: string;
  for: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

const rules: { groups: { rules: Alert[] }[] } = parse(read('k8s/components/monitoring/alerts.yaml')).spec;
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  read('k8s/components/monitoring/dashboard.json'),
);
const runbook = read('docs/runbook.md');
const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title]) => title!);

/** The names of metrics in the sources, and those of Node.js and Kubernetes that are used. */
const own = new Set(
  execFileSync('grep', ['-rhoE', '--include=*.ts', "(name: )?'plinth_[a-z_]+'", 'apps', 'libs'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .map((line) => line.replace(/^(name: )?'|'$/g, '')),
);
const foreign = [
  'up',
  'nodejs_eventloop_lag_p99_seconds',
  'process_resident_memory_bytes',
  'kube_deployment_spec_replicas',
  'kube_deployment_status_replicas_available',
  'kube_job_failed',
  'kube_pod_container_status_last_terminated_reason',
  'kube_pod_container_status_restarts_total',
];
const metricsIn = (expression: string) =>
  [
    ...expression
      .replace(/\{[^}]*\}/g, '')
      .matchAll(/\b(plinth_[a-z_]+|nodejs_[a-z0-9_]+|process_[a-z_]+|kube_[a-z_]+)\b/g),
  ].map(([, name]) => name!.replace(/_(bucket|count|sum)$/, ''));

describe.each(alerts.map((alert) => [alert.alert, alert] as const))('the alert %s', (name, alert) => {
  it('has a summary, a severity and a section of the runbook', () => {
    expect(sections).toContain(name);
    expect(alert.annotations.runbook_url).toBe(`docs/runbook.md#${name.toLowerCase()}`);
    expect(alert.annotations.summary).toMatch(/\.$/);
    expect(['critical', 'warning']).toContain(alert.labels.severity);
    expect(alert.for).toMatch(/^\d+m$/);
  });

  it('uses only metrics that exist', () => {
    for (const metric of metricsIn(alert.expr)) expect([...own, ...foreign]).toContain(metric);
  });

  it('is about the platform alone, whatever else is measured', () => {
    const ofNamespace = 'and on (namespace) max by (namespace) (max_over_time(up{job="plinth"}[1d]))';
    const nothingOf = 'unless on (namespace) count by (namespace) (';
    for (const metric of metricsIn(alert.expr).filter((found) => foreign.includes(found)))
      expect(
        [`${metric}{job="plinth"`, ofNamespace, `${nothingOf}${metric}`].some((part) =>
          alert.expr.includes(part),
        ),
      ).toBe(true);
  });
});

describe('what PlinthSlow leaves out', () => {
  const { expr } = alerts.find(({ alert }) => alert === 'PlinthSlow')!;
  const pattern = new RegExp(`^(?:${/route!~"([^"]+)"/.exec(expr)![1]})$`);
  const endpoints = Object.values(allEndpoints).flatMap((ofService) => Object.values<Endpoint>(ofService));
  /** Whether its time says nothing of the service, but of the file, the document or the stream. */
  const takesItsTime = ({ upload, success, rateLimitClass }: Endpoint) =>
    upload || success.events || success.file || (rateLimitClass === 'expensive' && success.status !== 202);
  const routesOf = (some: Endpoint[]) => [...new Set(some.map(({ path }) => path))].sort();

  it('are the endpoints that take as long as what they are about, and what shares their route', () => {
    expect(routesOf(endpoints.filter(({ path }) => pattern.test(path)))).toEqual(
      routesOf(endpoints.filter(takesItsTime)),
    );
  });
});

interface Case {
  /** What is measured each minute, as promtool writes it, when the alert must fire. */
  trouble: Record<string, string>;
  /** The same when nothing is wrong. */
  health: Record<string, string>;
  labels?: Record<string, string>;
  summary: string;
}

const requests = (status: number) => `plinth_gateway_request_duration_seconds_count{status="${status}"}`;
const slower = (seconds: string) =>
  `plinth_http_request_duration_seconds_bucket{area="template",route="/templates",le="${seconds}"}`;
const ofSettings = { process: 'settings' };
const breakerOf = (area: string, instance = 'a') =>
  `plinth_gateway_breaker_state{area="${area}",instance="${instance}"}`;
const failuresOf = (area: string, instance = 'a') =>
  `plinth_gateway_request_duration_seconds_count{area="${area}",status="503",instance="${instance}"}`;
const up = 'up{job="plinth",namespace="plinth"}';
const lag = (labels: string) => `nodejs_eventloop_lag_p99_seconds{${labels}}`;
const failedJob = (namespace: string) =>
  `kube_job_failed{namespace="${namespace}",job_name="migrate",condition="true"}`;
const container = (namespace: string) => `namespace="${namespace}",container="main",pod="settings-main-1"`;
const lastEnd = (namespace: string, reason = 'OOMKilled') =>
  `kube_pod_container_status_last_terminated_reason{${container(namespace)},reason="${reason}"}`;
const restarts = (namespace: string) => `kube_pod_container_status_restarts_total{${container(namespace)}}`;

const cases: Record<string, Case> = {
  PlinthErrorsFast: {
    trouble: { [requests(200)]: '0+980x90', [requests(503)]: '0+20x90' },
    health: { [requests(200)]: '0+980x90', [requests(503)]: '0+10x90' },
    summary: 'The error budget of a month (99.9 %) is gone in two days at this rate.',
  },
  PlinthErrorsSlow: {
    trouble: { [requests(200)]: '0+995x90', [requests(500)]: '0+5x90' },
    health: { [requests(200)]: '0+999x90', [requests(500)]: '0+1x90' },
    summary: 'Errors take three times the budget, slowly.',
  },
  PlinthSlow: {
    trouble: { [slower('1')]: '0+90x90', [slower('2.5')]: '0+100x90', [slower('+Inf')]: '0+100x90' },
    health: { [slower('1')]: '0+100x90', [slower('2.5')]: '0+100x90', [slower('+Inf')]: '0+100x90' },
    labels: { area: 'template' },
    summary: 'One request in a hundred to template takes more than a second.',
  },
  PlinthProcessMissing: {
    trouble: { 'up{job="plinth",service="settings-grpc"}': '1x80 0x10' },
    health: { 'up{job="plinth",service="settings-grpc"}': '1x90' },
    labels: { job: 'plinth', service: 'settings-grpc' },
    summary: 'A process of settings-grpc does not respond to the monitoring.',
  },
  PlinthNoPods: {
    trouble: {
      [up]: '1x30 _x60',
      'kube_deployment_spec_replicas{namespace="plinth",deployment="gateway-main"}': '2x90',
      'kube_deployment_status_replicas_available{namespace="plinth",deployment="gateway-main"}': '2x30 0x60',
      'kube_deployment_spec_replicas{namespace="others",deployment="shop-main"}': '2x90',
      'kube_deployment_status_replicas_available{namespace="others",deployment="shop-main"}': '0x90',
    },
    health: {
      [up]: '1x90',
      'kube_deployment_spec_replicas{namespace="plinth",deployment="gateway-main"}': '2x90',
      'kube_deployment_status_replicas_available{namespace="plinth",deployment="gateway-main"}': '1x90',
      'kube_deployment_spec_replicas{namespace="plinth",deployment="contacts-main"}': '0x90',
      'kube_deployment_status_replicas_available{namespace="plinth",deployment="contacts-main"}': '0x90',
    },
    labels: { namespace: 'plinth', deployment: 'gateway-main' },
    summary: 'No pod of gateway-main in plinth is available.',
  },
  PlinthPartDown: {
    trouble: { 'plinth_part_up{process="settings",part="postgres"}': '0x90' },
    health: {
      'plinth_part_up{process="settings",part="postgres"}': '1x90',
      'plinth_part_up{process="settings",part="migrations"}': '0x90',
    },
    labels: { ...ofSettings, part: 'postgres' },
    summary: 'settings cannot reach postgres.',
  },
  PlinthOutboxLag: {
    trouble: { 'plinth_outbox_oldest_seconds{process="settings"}': '0+60x90' },
    health: { 'plinth_outbox_oldest_seconds{process="settings"}': '30x90' },
    labels: ofSettings,
    summary: 'An event of settings has waited for more than a minute to be published.',
  },
  PlinthEventStreamFull: {
    trouble: { 'plinth_event_stream_fill{process="timeline"}': '0.9x90' },
    health: { 'plinth_event_stream_fill{process="timeline"}': '0.5x90' },
    summary: 'The stream of events is almost full; from then on it drops its oldest events.',
  },
  PlinthDeadLetters: {
    trouble: { 'plinth_dead_letters{process="settings"}': '3x90' },
    health: { 'plinth_dead_letters{process="settings"}': '0x90' },
    labels: ofSettings,
    summary: 'settings could not process 3 events of other services.',
  },
  PlinthDatabasePoolBusy: {
    trouble: { 'plinth_database_connections{process="settings",state="waiting"}': '2x90' },
    health: { 'plinth_database_connections{process="settings",state="busy"}': '10x90' },
    labels: ofSettings,
    summary: 'Requests to settings wait for a database connection.',
  },
  PlinthEventLoopBlocked: {
    trouble: { [lag('job="plinth",process="settings"')]: '0.5x90' },
    health: { [lag('job="plinth",process="settings"')]: '0.02x90', [lag('job="others"')]: '0.5x90' },
    labels: ofSettings,
    summary: 'settings is kept busy by its own computing.',
  },
  PlinthBreakerOpen: {
    trouble: { [breakerOf('settings')]: '1x90', [failuresOf('settings')]: '0+1x90' },
    health: {
      [breakerOf('settings')]: '0x90',
      [failuresOf('settings')]: '0+1x90',
      [breakerOf('template')]: '1x90',
      [failuresOf('template')]: '0+1x70 70x20',
      // A gateway that nobody asks for it, beside another of which some requests fail.
      [breakerOf('template', 'b')]: '0x90',
      [failuresOf('template', 'b')]: '0+1x90',
    },
    labels: { area: 'settings' },
    summary: 'The gateway spares settings, because it fails again and again.',
  },
  PlinthRateLimiterBlind: {
    trouble: { 'plinth_gateway_rate_limit_decisions_total{decision="uncounted"}': '0+10x90' },
    health: { 'plinth_gateway_rate_limit_decisions_total{decision="allowed"}': '0+10x90' },
    summary: 'Redis is away: requests pass uncounted, and those with an idempotency key are refused.',
  },
  PlinthResponsesCutOff: {
    trouble: { 'plinth_gateway_unfinished_responses_total{area="timeline"}': '0+60x90' },
    health: { 'plinth_gateway_unfinished_responses_total{area="timeline"}': '0+1x90' },
    labels: { area: 'timeline' },
    summary: 'Responses of timeline are cut off.',
  },
  PlinthJobStuck: {
    trouble: { 'plinth_jobs_silent_seconds{kind="import"}': '0+60x90' },
    health: { 'plinth_jobs_silent_seconds{kind="import"}': '20x90' },
    labels: { kind: 'import' },
    summary: 'An import has made no progress for more than ten minutes.',
  },
  PlinthRendererBusy: {
    trouble: { 'plinth_places_refused_total{places="pdf"}': '0+1x90' },
    health: { 'plinth_places_refused_total{places="pdf"}': '7x90' },
    labels: { places: 'pdf' },
    summary: 'Documents are refused, because too many wait for pdf.',
  },
  PlinthWorkRefused: {
    trouble: { 'plinth_places_refused_total{process="workflow",places="grpc-calls-template"}': '0+1x90' },
    health: {
      'plinth_places_refused_total{process="workflow",places="grpc-calls-template"}': '7x90',
      'plinth_places_refused_total{process="template",places="pdf"}': '0+1x90',
      'plinth_places_refused_total{process="workflow",places="connections"}': '0+1x90',
    },
    labels: { process: 'workflow', places: 'grpc-calls-template' },
    summary: 'workflow refuses work, because too much waits for grpc-calls-template, or for too long.',
  },
  PlinthMigrationFailed: {
    trouble: { [up]: '1x90', [failedJob('plinth')]: '0x80 1x10', [failedJob('others')]: '1x90' },
    health: { [up]: '1x90', [failedJob('plinth')]: '0x90', [failedJob('others')]: '1x90' },
    labels: { namespace: 'plinth', job_name: 'migrate' },
    summary: 'The databases of plinth are not as this version needs them.',
  },
  PlinthMigrationMissing: {
    trouble: {
      'plinth_part_up{process="settings",part="migrations",pod="settings-main-1"}': '_x45 0x45',
      'plinth_part_up{process="settings",part="migrations",pod="settings-main-2"}': '_x60 1x30',
    },
    health: {
      // Of 85 minutes, at which is looked, the job may take the last 30.
      'plinth_part_up{process="settings",part="migrations"}': '_x54 0x36',
      'plinth_part_up{process="workflow",part="migrations"}': '0x60 _x30',
      'plinth_part_up{process="workflow",part="postgres"}': '0x90',
    },
    labels: ofSettings,
    summary: 'settings still waits for migrations of its version, though the time of their job is over.',
  },
  PlinthOutOfMemory: {
    trouble: {
      [up]: '1x90',
      [lastEnd('plinth')]: '_x20 1x70',
      [restarts('plinth')]: '0x20 1x60 2x10',
    },
    health: {
      [up]: '1x90',
      // An hour ago.
      [lastEnd('plinth')]: '_x20 1x70',
      [restarts('plinth')]: '0x20 1x70',
      [lastEnd('others')]: '_x80 1x10',
      [restarts('others')]: '0x80 1x10',
    },
    labels: { namespace: 'plinth', container: 'main', pod: 'settings-main-1' },
    summary: 'settings-main-1 in plinth was ended because it took more memory than it may.',
  },
  PlinthClusterUnmeasured: {
    trouble: {
      [up]: '1x90',
      'kube_deployment_spec_replicas{namespace="others",deployment="shop-main"}': '2x90',
    },
    health: {
      [up]: '1x90',
      'kube_deployment_spec_replicas{namespace="plinth",deployment="gateway-main"}': '2x90',
      // Processes of Docker Compose.
      'up{job="plinth",service="settings"}': '1x90',
    },
    labels: { namespace: 'plinth' },
    summary: 'Nothing measures the Deployments of plinth, so that three alerts cannot fire.',
  },
};

/** What is measured, beginning 85 minutes before it is looked at whether an alert fires. */
interface Measured {
  name: string;
  series: Record<string, string>;
  fires: boolean;
}

/**
 * What promtool says where alerts do not fire as expected; undefined where it is not there.
 * @param interval how often there is a value of each series, and the alerts are evaluated
 */
function tryAlerts(
  interval: string,
  measured: readonly Measured[],
): { status: number | null; said: string } | undefined {
  const promtool = findOrInstall('promtool');
  if (promtool === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'plinth-alerts-'));
  const tests = measured.map(({ name, series, fires }) => {
    const { labels, annotations } = alerts.find(({ alert }) => alert === name)!;
    const fired = {
      exp_labels: { ...labels, ...cases[name]!.labels },
      exp_annotations: { ...annotations, summary: cases[name]!.summary },
    };
    return {
      interval,
      input_series: Object.entries(series).map(([of, values]) => ({ series: of, values })),
      alert_rule_test: [{ eval_time: '85m', alertname: name, exp_alerts: fires ? [fired] : [] }],
    };
  });
  writeFileSync(join(folder, 'rules.yaml'), stringify(rules));
  writeFileSync(
    join(folder, 'tests.yaml'),
    stringify({ rule_files: ['rules.yaml'], evaluation_interval: interval, tests }),
  );
  const { status, stderr } = spawnSync(promtool, ['test', 'rules', join(folder, 'tests.yaml')], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  return { status, said: stderr };
}

const asExpected = { status: 0, said: '' };

describe('the alerts', () => {
  it('are all tried', () => expect(Object.keys(cases)).toEqual(alerts.map(({ alert }) => alert)));

  it('fire in trouble, say what it is, and are silent in health', () => {
    const measured = Object.entries(cases).flatMap(([name, { trouble, health }]) => [
      { name, series: trouble, fires: true },
      { name, series: health, fires: false },
    ]);
    expect(tryAlerts('1m', measured) ?? asExpected).toEqual(asExpected);
  });
});

describe('PlinthBreakerOpen', () => {
  const SCRAPE_MILLISECONDS = 15_000;
  const MINUTE = 60_000;
  const END = 85 * MINUTE;
  const STEP = 100;

  interface Failing {
    /** How often somebody sends a request to the service. */
    every: number;
    /** How long each takes to fail. */
    failsAfter: number;
    /** When it responds again. */
    respondsFrom?: number;
    /** When nobody sends anything more. */
    silentFrom?: number;
  }

  /** What Prometheus reads of the gateway while a service fails. */
  async function scrapesOf(failing: Failing): Promise<Record<string, string>> {
    const { every, failsAfter, respondsFrom = Infinity, silentFrom = Infinity } = failing;
    let now = 0;
    const clock = { now: () => new Date(now) };
    const breaker = new Breaker({ failuresMax: 10, openMilliseconds: 1_000 }, clock);
    const upstream = { service: 'settings', breaker, running: () => 0 } as unknown as Upstream;
    const registry = new Registry();
    const metrics = new GatewayMetrics(registry, () => [upstream], new RequestHistory(clock));
    const end = (statusCode: number) => {
      const response = { statusCode, writableFinished: true };
      metrics.finished({ service: 'settings', route: 'all', response, trace: {} } as RequestContext, 1);
    };
    const failingAt = new Map<number, Date>();
    const read = new Map<string, string[]>();
    for (; now <= END; now += STEP) {
      if (now % every === 0 && now < silentFrom) {
        if (!breaker.admits()) end(503);
        else if (now < respondsFrom) failingAt.set(now + failsAfter, clock.now());
        else {
          breaker.succeeded();
          end(200);
        }
      }
      const sentAt = failingAt.get(now);
      if (sentAt) {
        breaker.timedOut(sentAt);
        end(504);
      }
      if (now % SCRAPE_MILLISECONDS > 0) continue;
      const lines = (await registry.metrics()).matchAll(/^(\w+_(?:state|count)\{.*\}) (\d+)$/gm);
      for (const [, series, value] of lines) {
        const values = read.get(series!) ?? Array<string>(now / SCRAPE_MILLISECONDS).fill('_');
        read.set(series!, [...values, value!]);
      }
    }
    return Object.fromEntries([...read].map(([series, values]) => [series, values.join(' ')]));
  }

  it.each([
    ['hangs', { every: 700, failsAfter: 30_000 }, true],
    ['hangs at night', { every: MINUTE, failsAfter: 30_000 }, true],
    ['refuses connections', { every: 4_700, failsAfter: 0 }, true],
    ['has come back', { every: 700, failsAfter: 30_000, respondsFrom: 80 * MINUTE }, false],
    ['nobody needs any more', { every: 700, failsAfter: 0, silentFrom: 75 * MINUTE }, false],
  ])('knows the state of a service that %s', async (_what, failing, fires) => {
    const series = await scrapesOf(failing);
    const measured = [{ name: 'PlinthBreakerOpen', series, fires }];
    expect(tryAlerts('15s', measured) ?? asExpected).toEqual(asExpected);
  });
});

it('PlinthMigrationMissing lets the job of the migrations take its time, and fires before a rollout is given up', () => {
  const [job] = parseAllDocuments(read('k8s/base/migrate.yaml'))
    .map((document) => document.toJS())
    .filter(({ kind }) => kind === 'Job');
  const minutes = Number.parseInt(alerts.find(({ alert }) => alert === 'PlinthMigrationMissing')!.for);
  expect(minutes * 60).toBeGreaterThan(job.spec.activeDeadlineSeconds);
  for (const kind of ['main', 'worker']) {
    const [, seconds] = /progressDeadlineSeconds: (\d+)/.exec(read(`k8s/generic/${kind}/deployment.yaml`))!;
    expect(minutes * 60).toBeLessThan(Number(seconds));
  }
});

describe('the dashboard', () => {
  it.each(dashboard.panels.map((panel) => [panel.title, panel] as const))(
    'uses only metrics that exist in the panel %s',
    (_title, panel) => {
      const metrics = panel.targets.flatMap(({ expr }) => metricsIn(expr));
      expect(metrics.length).toBeGreaterThan(0);
      for (const metric of metrics) expect([...own, ...foreign]).toContain(metric);
    },
  );
});

describe('the runbook', () => {
  it('has no broken links, and sections only for alerts that exist', () => {
    const anchors = sections.map((title) => title.toLowerCase().replaceAll(' ', '-'));
    for (const [, anchor] of runbook.matchAll(/\]\(#([\w-]+)\)/g)) expect(anchors).toContain(anchor);
    const named = sections.filter((title) => title.startsWith('Plinth'));
    expect(named).toEqual(alerts.map(({ alert }) => alert));
  });
});
