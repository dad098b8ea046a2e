import { Counter, Gauge, type Registry } from 'prom-client';

/** A queue that refuses what does not fit into it. */
interface Queue {
  waiting(): number;
  refused(): number;
}

/** Measures how many documents wait to be evaluated or printed, and how many were refused. */
export function measureQueues(metrics: Registry, queues: { evaluation: Queue; pdf: Queue }): void {
  const registers = [metrics];
  new Gauge({
    name: 'plinth_render_waiting',
    help: 'Documents that wait to be evaluated, or to be printed as PDF.',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, { waiting }] of Object.entries(queues)) this.set({ queue }, waiting());
    },
  });
  new Counter({
    name: 'plinth_render_refused_total',
    help: 'Documents refused with 503, because too many were waiting.',
    labelNames: ['queue'],
    registers,
    collect() {
      this.reset();
      for (const [queue, { refused }] of Object.entries(queues)) this.inc({ queue }, refused());
    },
  });
}
