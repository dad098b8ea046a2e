import { performance, type EventLoopUtilization } from 'node:perf_hooks';

/** The header of a response by which a service says that its event loop is busy; the gateway keeps it to itself. */
export const BUSY_HEADER = 'x-plinth-busy';

const PERIOD_MILLISECONDS = 100;
const BUSY = 0.9;

/** What Node.js knows of the event loop: for how many milliseconds it was active and idle. */
type Measure = (since?: EventLoopUtilization) => EventLoopUtilization;

/**
 * Whether the event loop of this process has always something to do, so that whatever arrives comes behind it. It counts as
 * busy too while it waits for a processor in the middle of its work.
 */
export class EventLoopLoad {
  private before: EventLoopUtilization;
  private latest = false;

  constructor(private readonly measure: Measure = performance.eventLoopUtilization.bind(performance)) {
    this.before = measure();
  }

  /** Whether it was busy in the last tenth of a second, or longer where nobody asked. */
  get isBusy(): boolean {
    const { active, idle, utilization } = this.measure(this.before);
    if (active + idle >= PERIOD_MILLISECONDS) {
      this.before = this.measure();
      this.latest = utilization >= BUSY;
    }
    return this.latest;
  }
}
