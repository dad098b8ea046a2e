import { fork, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { templateProblems } from '@plinth/contracts/template/problems';
import type { Log } from '@plinth/runtime/log';
import { isOverTime } from './language/meter';
import type { Answer, Message, Task } from './sandbox/protocol';

export interface PoolOptions {
  /** The compiled program of the process, see `sandbox.ts`. */
  program: string;
  processes: number;
  /** Tasks that may wait; more are refused with 503. */
  queueMax: number;
  /** Longest time of one task on the processor; whoever takes longer is killed. */
  millisecondsMax: number;
  memoryMegabytesMax: number;
}

export interface SandboxPool {
  run(tenantId: string, task: Task, signal?: AbortSignal): Promise<Answer>;
  /** Process ids, for tests. */
  pids(): number[];
  /** Tasks that wait, and how many were refused since the start, for metrics. */
  waiting(): number;
  refused(): number;
  /** Resolves when every process has started. */
  ready(): Promise<void>;
  close(): void;
}

interface Job {
  tenantId: string;
  task: Task;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

interface Worker {
  child: ChildProcess;
  job: Job | undefined;
  isReady: boolean;
  isRetired: boolean;
  isSlow: boolean;
  started: Promise<void>;
}

/** Whoever has used the processor for this long steps back behind all others of the machine. */
const SLOW_MILLISECONDS = 150;

/** How often the tasks that take long are looked at. */
const WATCH_MILLISECONDS = 100;

/** How long a task may wait for the processor in all, in times of its limit: then the machine is too busy. */
const STARVED = 10;

/** Writing a workbook takes this much longer than evaluating its template. */
const WORKBOOK_PATIENCE = 5;

/** How long to wait before a process that did not start is started again. */
const RESTART_MILLISECONDS = 1_000;

/**
 * Processes that evaluate templates, off the event loop and out of reach of everything the service can reach. Each
 * does one task at a time; one that overruns its time or memory is killed and replaced, and only its task fails.
 */
export function sandboxPool(options: PoolOptions, log: Log): SandboxPool {
  const workers = new Set<Worker>();
  const queue: Job[] = [];
  let refused = 0;
  let closed = false;

  const start = (): void => {
    const worker = startWorker(options);
    workers.add(worker);
    worker.child.on('exit', () => {
      workers.delete(worker);
      worker.job?.resolve({
        kind: 'exhausted',
        message: 'The template takes more time or memory than is allowed.',
      });
      worker.job = undefined;
      if (closed) return;
      if (worker.isReady) return start();
      log.error('a process that renders templates does not start');
      setTimeout(start, RESTART_MILLISECONDS).unref();
    });
    worker.child.on('error', (error) => log.warn({ err: error }, 'a process that renders templates failed'));
    void worker.started.then(next);
  };

  /** Free processes take tasks; the tenant with the fewest running ones comes first. */
  const next = (): void => {
    for (const worker of workers) {
      if (queue.length === 0) return;
      if (worker.isReady && !worker.isRetired && worker.job === undefined)
        give(worker, takeFairly(queue, workers));
    }
  };

  const give = (worker: Worker, job: Job): void => {
    worker.job = job;
    const { child } = worker;
    // Before anything else: while it is on its way, its watch can be set.
    child.send(
      { id: 1, content: job.task } satisfies Message<Task>,
      (error) => error && child.kill('SIGKILL'),
    );
    const patience = job.task.kind === 'render' && job.task.format === 'excel' ? WORKBOOK_PATIENCE : 1;
    const watch = watchTime(child, {
      slow: () => stepBack(worker),
      over: () => retire(worker),
      starved: () => {
        worker.job = undefined;
        job.reject(busy('The machine is too busy to render this now.'));
        retire(worker);
      },
      millisecondsMax: options.millisecondsMax * patience,
      slowMilliseconds: SLOW_MILLISECONDS * patience,
    });
    const done = (): void => clearInterval(watch);
    child.once('exit', done);
    child.once('message', ({ content }: Message<Answer>) => {
      done();
      child.removeListener('exit', done);
      worker.job = undefined;
      job.resolve(content);
      // Only root could bring it forward again.
      if (worker.isSlow) retire(worker);
      else next();
    });
  };

  for (let count = 0; count < options.processes; count++) start();

  return {
    run: (tenantId, task, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (queue.length >= options.queueMax) {
          refused++;
          reject(busy('Too many templates wait to be rendered.'));
          return;
        }
        const job: Job = { tenantId, task, resolve, reject };
        queue.push(job);
        signal?.addEventListener('abort', () => withdraw(queue, job, signal), { once: true });
        next();
      }),
    pids: () => [...workers].flatMap(({ child }) => child.pid ?? []),
    waiting: () => queue.length,
    refused: () => refused,
    ready: async () => void (await Promise.all([...workers].map(({ started }) => started))),
    close() {
      closed = true;
      for (const { child } of workers) child.kill('SIGKILL');
    },
  };
}

/** Starts a process that has nothing: no environment, no files but its own program, no way to start others. */
function startWorker({ program, memoryMegabytesMax }: PoolOptions): Worker {
  const child = fork(program, [], {
    cwd: '/',
    env: {},
    execArgv: [
      '--permission',
      ...readableFolders(program).map((folder) => `--allow-fs-read=${folder}`),
      '--disallow-code-generation-from-strings',
      '--disable-proto=delete',
      `--max-old-space-size=${memoryMegabytesMax}`,
      '--no-warnings',
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const worker: Worker = {
    child,
    job: undefined,
    isReady: false,
    isRetired: false,
    isSlow: false,
    started: Promise.resolve(),
  };
  worker.started = new Promise((resolve) => {
    child.once('message', () => {
      worker.isReady = true;
      resolve();
    });
    child.once('exit', () => resolve());
  });
  return worker;
}

/** Where the program and the packages that it loads are. */
function readableFolders(program: string): string[] {
  const parser = require.resolve('parse5');
  const packages = parser.slice(0, parser.lastIndexOf('node_modules') + 'node_modules'.length);
  return [join(dirname(program), '*'), join(packages, '*')];
}

function takeFairly(queue: Job[], workers: Iterable<Worker>): Job {
  const running = new Map<string, number>();
  for (const { job } of workers) if (job) running.set(job.tenantId, (running.get(job.tenantId) ?? 0) + 1);
  const busyness = (job: Job): number => running.get(job.tenantId) ?? 0;
  const chosen = queue.reduce((best, job) => (busyness(job) < busyness(best) ? job : best));
  queue.splice(queue.indexOf(chosen), 1);
  return chosen;
}

const busy = (detail: string) => templateProblems['renderer-busy'](detail, { retryAfterSeconds: 2 });

interface Watch {
  slow(): void;
  over(): void;
  starved(): void;
  slowMilliseconds: number;
  millisecondsMax: number;
}

/** Looks after a task that takes long, by the time that its process has had of the processor. */
function watchTime({ pid }: ChildProcess, watch: Watch): NodeJS.Timeout {
  const startedAt = performance.now();
  const before = cpuMillisecondsOf(pid);
  return setInterval(() => {
    const wall = performance.now() - startedAt;
    const now = cpuMillisecondsOf(pid);
    const cpu = before === undefined || now === undefined ? wall : now - before;
    if (cpu > watch.slowMilliseconds) watch.slow();
    if (isOverTime(watch.millisecondsMax, cpu, wall)) watch.over();
    else if (wall > watch.millisecondsMax * STARVED) watch.starved();
  }, WATCH_MILLISECONDS);
}

const MILLISECONDS_PER_TICK = 10;

/** Undefined where the system does not tell. */
function cpuMillisecondsOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MILLISECONDS_PER_TICK;
  } catch {
    return undefined;
  }
}

function retire(worker: Worker): void {
  worker.isRetired = true;
  worker.child.kill('SIGKILL');
}

function stepBack(worker: Worker): void {
  if (worker.isSlow) return;
  worker.isSlow = true;
  try {
    if (worker.child.pid !== undefined)
      setPriority(worker.child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It ended meanwhile, or the system does not allow it; the time limit still holds.
  }
}

function withdraw(queue: Job[], job: Job, signal: AbortSignal): void {
  const index = queue.indexOf(job);
  if (index === -1) return;
  queue.splice(index, 1);
  job.reject(signal.reason);
}
