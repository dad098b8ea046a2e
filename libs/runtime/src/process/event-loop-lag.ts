import { createHistogram, performance as ofNode, type EventLoopUtilization } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const LOOK_MILLISECONDS = 500;
/** Each look wakes a process, and a platform has many that rest. */
const RESTING_LOOK_MILLISECONDS = 10_000;
/** The part of that time for which the event loop of a process is active that does not rest; polls take less. */
const ACTIVE_PART = 0.02;
/** How long a process was not active when it rests; one that is blocked each few seconds does not. */
const RESTING_AFTER_MILLISECONDS = 60_000;
const MICROSECONDS_PER_SECOND = 1e6;
const LAG_MICROSECONDS_MAX = 3_600 * MICROSECONDS_PER_SECOND;
const LAGS = ['max', 'mean', 'p50', 'p90', 'p99'] as const;

/** How late it was, in seconds, of a number of looks; zeros where that is none. */
type Lags = { looks: number } & Record<(typeof LAGS)[number], number>;

/** What Node.js knows of the event loop: for how many milliseconds it was active and idle. */
type Measure = (since?: EventLoopUtilization) => EventLoopUtilization;

/**
 * How late the event loop of this process comes to what is due: it looks twice a second, and rarely while the process
 * rests. The histogram of Node.js looks as often at rest, or at each iteration, where it misses callbacks from threads.
 */
export class EventLoopLag {
  private readonly microseconds = createHistogram({ lowest: 1, highest: LAG_MICROSECONDS_MAX, figures: 2 });
  private before: EventLoopUtilization;
  private measuredAt = performance.now();
  private restsFrom = this.measuredAt + RESTING_AFTER_MILLISECONDS;

  constructor(private readonly measure: Measure = ofNode.eventLoopUtilization.bind(ofNode)) {
    this.before = measure();
    this.lookIn(LOOK_MILLISECONDS);
  }

  /** What was seen since this was called before. */
  take(): Lags {
    const lags = this.microseconds;
    const looks = lags.count;
    const seconds = (microseconds: number) => (looks === 0 ? 0 : microseconds / MICROSECONDS_PER_SECOND);
    const taken = {
      looks,
      max: seconds(lags.max),
      mean: seconds(lags.mean),
      p50: seconds(lags.percentile(50)),
      p90: seconds(lags.percentile(90)),
      p99: seconds(lags.percentile(99)),
    };
    lags.reset();
    return taken;
  }

  private lookIn(milliseconds: number): void {
    const dueAt = performance.now() + milliseconds;
    setTimeout(() => {
      const now = performance.now();
      // A histogram has no zero.
      this.microseconds.record(Math.max(1, Math.round((now - dueAt) * 1_000)));
      if (now - this.measuredAt >= RESTING_LOOK_MILLISECONDS) this.noteActivity(now);
      this.lookIn(now < this.restsFrom ? LOOK_MILLISECONDS : RESTING_LOOK_MILLISECONDS);
    }, milliseconds).unref();
  }

  private noteActivity(now: number): void {
    const { utilization } = this.measure(this.before);
    if (utilization >= ACTIVE_PART) this.restsFrom = now + RESTING_AFTER_MILLISECONDS;
    this.before = this.measure();
    this.measuredAt = now;
  }
}

/** Shows how late the event loop was since metrics were read before. */
export function measureEventLoopLag(metrics: Registry): void {
  const lag = new EventLoopLag();
  const registers = [metrics];
  const gaugeOf = (what: string) =>
    new Gauge({
      name: `nodejs_eventloop_lag_${what}_seconds`,
      help: `Lag of the event loop in seconds since the last scrape: ${what}.`,
      registers,
    });
  new Gauge({
    name: 'nodejs_eventloop_lag_looks',
    help: 'How often the lag of the event loop was looked at since the last scrape.',
    registers,
    // Read before those that come after it.
    collect() {
      const { looks, ...lags } = lag.take();
      this.set(looks);
      for (const [what, gauge] of gauges) gauge.set(lags[what]);
    },
  });
  const gauges = LAGS.map((what) => [what, gaugeOf(what)] as const);
}
