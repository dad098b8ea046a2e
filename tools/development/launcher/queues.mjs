/**
 * What waits in a process: which metric counts it, and which has its age.
 * @type {{ queue: string, waiting: string, age?: string, label?: string }[]}
 */
const queues = [
  { queue: 'events to publish', waiting: 'plinth_outbox_unpublished', age: 'plinth_outbox_oldest_seconds' },
  { queue: 'events that wait their turn', waiting: 'plinth_waiting_events' },
  { queue: 'dead letters', waiting: 'plinth_dead_letters' },
  { queue: 'jobs', waiting: 'plinth_jobs_unfinished', age: 'plinth_jobs_silent_seconds', label: 'kind' },
  { queue: 'work', waiting: 'plinth_places_waiting', label: 'places' },
];

const timeoutMilliseconds = 5_000;

/**
 * The queues of a process, as its metrics show them; none where it has no metrics.
 * @param {import('./state.mjs').ProcessState} process
 * @returns {Promise<{ process: string, queue: string, waiting: string, oldest: string }[]>}
 */
export async function queuesOf({ name, probe }) {
  if (probe.kind !== 'http' || !probe.url.endsWith('/readyz')) return [];
  const url = probe.url.replace(/readyz$/, 'metrics');
  const samples = await readSamples(url).catch(() => []);
  return queues.flatMap(({ queue, waiting, age, label }) =>
    samples
      // Places are many, and work waits for few of them.
      .filter(({ metric, value }) => metric === waiting && (value > 0 || label !== 'places'))
      .map(({ labels, value }) => {
        const kind = label === undefined ? undefined : labels[label];
        const oldest = samples.find(
          ({ metric, labels }) => metric === age && (label === undefined || labels[label] === kind),
        );
        return {
          process: name,
          queue: kind === undefined ? queue : `${queue}: ${kind}`,
          waiting: String(value),
          oldest: oldest === undefined || value === 0 ? '-' : `${Math.round(oldest.value)} s`,
        };
      }),
  );
}

/** @param {string} url */
async function readSamples(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMilliseconds) });
  const lines = (await response.text()).split('\n');
  return lines.flatMap((line) => {
    const [, metric, labels, value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (metric === undefined || labels === undefined) return [];
    return [{ metric, labels: readLabels(labels), value: Number(value) }];
  });
}

/** `a="b",c="d"` @param {string} text @returns {Record<string, string>} */
const readLabels = (text) =>
  Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
