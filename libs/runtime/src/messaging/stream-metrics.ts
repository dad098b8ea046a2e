import { Gauge, type Registry } from 'prom-client';
import { readInTime } from '../process/read-in-time';
import { readStreamFill, type Messaging } from './nats';

/** Shows, whenever metrics are read, how full the stream of events is; nothing while NATS is away or it has no bound. */
export function measureStream(metrics: Registry, messaging: Messaging): void {
  new Gauge({
    name: 'plinth_event_stream_fill',
    help: 'Share of what the stream of events may store that it stores, from 0 to 1.',
    registers: [metrics],
    async collect() {
      const fill = await readInTime(() => readStreamFill(messaging));
      if (fill === undefined) this.remove();
      else this.set(fill);
    },
  });
}
