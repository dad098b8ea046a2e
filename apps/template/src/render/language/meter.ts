export interface Limits {
  /** Evaluated nodes, loop rounds and the like. */
  steps: number;
  /** Characters and items made in the course of a rendering, whether they reach the output or not. */
  made: number;
  /** Characters of output. */
  output: number;
  /** Macros, blocks, includes and layouts inside each other; elements of a document have the depth that the stack has. */
  depth: number;
  /** Processor time. */
  milliseconds: number;
}

export const defaultLimits: Limits = {
  steps: 5_000_000,
  made: 50_000_000,
  output: 10_000_000,
  depth: 60,
  milliseconds: 500,
};

/** `names` is of a rendering as a whole, however often it is run again: see `NamesToLoad`; `band` of `printedBand`. */
type LimitName = keyof Limits | 'names' | 'band';

const messages: Record<LimitName, string> = {
  steps: 'The template does more work than is allowed.',
  made: 'The template makes more text than is allowed.',
  output: 'The output is larger than is allowed.',
  depth: 'Macros, includes, layouts or elements are nested too deeply, perhaps without end.',
  milliseconds: 'The template takes longer than is allowed.',
  band: 'A header or footer is larger than is allowed.',
  names: 'The template names more texts, settings and templates than is allowed.',
};

/** A rendering went over one of its limits. */
export class LimitError extends Error {
  constructor(readonly limit: LimitName) {
    super(messages[limit]);
  }
}

/** Beside other tenants a template that was slow has a low priority, and takes many times as long without any fault of it. */
const WALL_TIMES_MAX = 6;

/**
 * What counts is processor time, since on a busy machine every template is slow. Wall-clock time counts only for a
 * template that has used a good part of its processor time, so that its caller does not wait for it for ever.
 */
export const isOverTime = (limit: number, cpu: number, wall: number): boolean =>
  cpu > limit || (wall > WALL_TIMES_MAX * limit && cpu > limit / 3);

function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const STEPS_BETWEEN_TIME_CHECKS = 2_048;

/** Counts what one rendering costs, and ends it when it costs too much. */
export class Meter {
  private steps = 0;
  private made = 0;
  private output = 0;
  private depth = 0;
  private nextTimeCheck = STEPS_BETWEEN_TIME_CHECKS;
  private readonly startedAt = performance.now();
  private readonly cpuBefore = cpuMilliseconds();

  constructor(private readonly limits: Limits = defaultLimits) {}

  /** Counts work, before it is done. */
  step(count = 1): void {
    this.steps += count;
    if (this.steps > this.limits.steps) throw new LimitError('steps');
    if (this.steps < this.nextTimeCheck) return;
    this.nextTimeCheck = this.steps + STEPS_BETWEEN_TIME_CHECKS;
    if (
      isOverTime(
        this.limits.milliseconds,
        cpuMilliseconds() - this.cpuBefore,
        performance.now() - this.startedAt,
      )
    ) {
      throw new LimitError('milliseconds');
    }
  }

  /** Counts characters or items about to be made; copying costs work, too. */
  make(size: number): void {
    this.made += size;
    if (!(this.made <= this.limits.made)) throw new LimitError('made');
    this.step(1 + Math.floor(size / 64));
  }

  write(characters: number): void {
    this.output += characters;
    if (this.output > this.limits.output) throw new LimitError('output');
  }

  nested<Result>(work: () => Result): Result {
    if (++this.depth > this.limits.depth) throw new LimitError('depth');
    try {
      return work();
    } finally {
      this.depth--;
    }
  }
}
