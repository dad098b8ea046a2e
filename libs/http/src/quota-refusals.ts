import { Counter, type Registry } from 'prom-client';

const METRIC = 'plinth_quota_refusals_total';

/** Counts what a quota refused. */
export function quotaRefusals(metrics: Registry): Counter<'quota' | 'scope'> {
  return (
    (metrics.getSingleMetric(METRIC) as Counter<'quota' | 'scope'> | undefined) ??
    new Counter({
      name: METRIC,
      help: 'What was refused because a tenant or user has as much as a quota allows.',
      labelNames: ['quota', 'scope'],
      registers: [metrics],
    })
  );
}
