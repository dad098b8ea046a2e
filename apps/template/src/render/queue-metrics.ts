import { Counter, Gauge, type Registry } from 'prom-client';

/** Something that does a few things at a time, lets some wait, and refuses the rest. */
interface Queue {
  waiting(): number;
  refused(): number;
}

/** Shows how many documents wait to be evaluated or printed, and how many were refused because too many did. */
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
