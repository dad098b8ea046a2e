import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

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
  'kube_job_status_failed',
  'kube_pod_container_status_last_terminated_reason',
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
