import { fork, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { Log } from '@plinth/runtime/process/log';
import { rendererBusy, rendererFull } from '../domain/problems';
import { isOverTime } from './language/meter';
import type { TaskResult, Message, Task } from './sandbox/protocol';

export interface PoolOptions {
  /** The compiled program of the process, see `sandbox.ts`. */
  program: string;
  processes: number;
  /** Tasks that may wait; more are refused. */
  queueMax: number;
  /** Longest processor time of one task; a process that takes longer is killed. */
  millisecondsMax: number;
  memoryMegabytesMax: number;
}

export interface SandboxPool {
  run(owner: ShareOwner, task: Task, signal?: AbortSignal): Promise<TaskResult>;
  /** Process ids, for tests. */
  pids(): number[];
  /** Where tasks run, for metrics. */
  places: FairPlaces;
  /** Resolves when every process has started. */
  ready(): Promise<void>;
  close(): void;
}

interface QueuedTask {
  tenantId: string;
  task: Task;
  resolve: (result: TaskResult) => void;
  reject: (error: unknown) => void;
  /** Gives up its place. */
  leave: () => void;
}

interface Worker {
  child: ChildProcess;
  running: QueuedTask | undefined;
  /** Of its last task: until a process that ends over a task is replaced, the place of the task stays taken. */
  leave: (() => void) | undefined;
  isReady: boolean;
  isRetired: boolean;
  /** The tenant whose task had its priority lowered, which only root could raise: it works for nobody else any more. */
  slowFor: string | undefined;
  /** Replaces a slow process that its tenant no longer uses. */
  replacement: NodeJS.Timeout | undefined;
  started: Promise<void>;
}

/** A process that has used the processor for this long gets a lower priority than all others of the machine. */
const SLOW_MILLISECONDS = 150;

/**
 * For so long a slow process waits for the next task of its tenant. One that has many slow templates evaluates them in
 * it: beside others each of them would otherwise begin with the usual priority, and cost the start of a process besides.
 */
const SLOW_IDLE_MILLISECONDS = 200;

/** How often the processor time of a running task is checked. */
const WATCH_MILLISECONDS = 100;

/** A task that is not done after so many times its limit did not get the processor: the machine is too busy. */
const STARVATION_FACTOR = 10;

/** Writing a workbook takes so many times longer than evaluating its template. */
const WORKBOOK_TIME_FACTOR = 5;

/** How long to wait before a process that did not start is started again. */
const RESTART_MILLISECONDS = 1_000;

/**
 * Processes that evaluate templates, off the event loop and without access to anything that the service can access.
 * Each runs one task at a time; one that exceeds its time or memory is killed and replaced, and only its task fails.
 */
export function sandboxPool(options: PoolOptions, log: Log): SandboxPool {
  const workers = new Set<Worker>();
  const places = new FairPlaces({
    places: options.processes,
    waitingMax: options.queueMax,
    refused: (scope) => rendererFull(scope, 'templates waiting to be rendered', RETRY_AFTER_SECONDS),
  });
  /** Tasks that have a place and wait for its process, which may have to start first. */
  const queue: QueuedTask[] = [];
  let closed = false;

  const start = (onStarted?: () => void): void => {
    const worker = startWorker(options);
    workers.add(worker);
    worker.child.once(endOf(worker.child), () => {
      workers.delete(worker);
      worker.running?.resolve({
        kind: 'exhausted',
        message: 'The template takes more time or memory than is allowed.',
      });
      worker.running = undefined;
      if (closed) return worker.leave?.();
      if (worker.isReady) return start(worker.leave);
      log.error('sandbox process did not start; will retry');
      setTimeout(() => closed || start(), RESTART_MILLISECONDS).unref();
    });
    worker.child.on('error', (error) => log.warn({ err: error }, 'sandbox process failed'));
    void worker.started.then(() => {
      onStarted?.();
      assignTasks();
    });
  };

  /** Gives tasks to idle processes, and replaces slow ones of other tenants where no other process is there or coming. */
  const assignTasks = (): void => {
    for (const queued of queue.splice(0)) {
      const worker = idleFor(queued.tenantId);
      if (worker) assign(worker, queued);
      else queue.push(queued);
    }
    const coming = [...workers].filter(({ isReady, isRetired }) => !isReady || isRetired).length;
    const lacking = Math.max(0, queue.length - coming);
    [...workers].filter(isIdle).slice(0, lacking).forEach(retire);
  };

  const idleFor = (tenantId: string): Worker | undefined => {
    const idle = [...workers].filter(isIdle);
    return (
      idle.find(({ slowFor }) => slowFor === tenantId) ?? idle.find(({ slowFor }) => slowFor === undefined)
    );
  };

  const assign = (worker: Worker, queued: QueuedTask): void => {
    clearTimeout(worker.replacement);
    worker.running = queued;
    worker.leave = queued.leave;
    const { child } = worker;
    // Sent first: the time limit is set up while the message is on its way.
    child.send(
      { id: 1, content: queued.task } satisfies Message<Task>,
      (error) => error && child.kill('SIGKILL'),
    );
    const timeFactor =
      queued.task.kind === 'render' && queued.task.format === 'excel' ? WORKBOOK_TIME_FACTOR : 1;
    const watch = watchProcessorTime(child, {
      slow: () => lowerPriority(worker, queued.tenantId),
      over: () => retire(worker),
      starved: () => {
        worker.running = undefined;
        queued.reject(rendererBusy('The server is too busy to render this now.', RETRY_AFTER_SECONDS));
        retire(worker);
      },
      millisecondsMax: options.millisecondsMax * timeFactor,
      slowMilliseconds: SLOW_MILLISECONDS * timeFactor,
    });
    const done = (): void => clearInterval(watch);
    child.once('exit', done);
    child.once('message', ({ content }: Message<TaskResult>) => {
      done();
      child.removeListener('exit', done);
      worker.running = undefined;
      queued.resolve(content);
      if (worker.slowFor !== undefined)
        worker.replacement = setTimeout(() => retire(worker), SLOW_IDLE_MILLISECONDS).unref();
      worker.leave = undefined;
      queued.leave();
      assignTasks();
    });
  };

  for (let count = 0; count < options.processes; count++) start();

  return {
    run: (owner, task, signal) =>
      new Promise((resolve, reject) => {
        const evaluate = (): Promise<void> =>
          new Promise((leave) => {
            queue.push({ tenantId: owner.tenantId, task, resolve, reject, leave });
            assignTasks();
          });
        places.run(owner, evaluate, signal).catch(reject);
      }),
    pids: () => [...workers].flatMap(({ child }) => child.pid ?? []),
    places,
    ready: async () => void (await Promise.all([...workers].map(({ started }) => started))),
    close() {
      closed = true;
      for (const { child } of workers) child.kill('SIGKILL');
    },
  };
}

/** V8 lets young objects take three times as much; without a limit 96 MB, which no pod has room for three times. */
const SEMI_SPACE_MEGABYTES_MAX = 16;

/** Starts a process without environment, without files but its own program, and without the right to start others. */
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
      `--max-semi-space-size=${SEMI_SPACE_MEGABYTES_MAX}`,
      '--no-warnings',
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const worker: Worker = {
    child,
    running: undefined,
    leave: undefined,
    isReady: false,
    isRetired: false,
    slowFor: undefined,
    replacement: undefined,
    started: Promise.resolve(),
  };
  worker.started = new Promise((resolve) => {
    child.once('message', () => {
      worker.isReady = true;
      resolve();
    });
    child.once(endOf(child), () => resolve());
  });
  return worker;
}

/** One that could not be forked, as where there are too many processes or open files, does not exit. */
const endOf = ({ pid }: ChildProcess): 'error' | 'exit' => (pid === undefined ? 'error' : 'exit');

/** Where the program and the packages that it loads are. */
function readableFolders(program: string): string[] {
  const parser = require.resolve('parse5');
  const packages = parser.slice(0, parser.lastIndexOf('node_modules') + 'node_modules'.length);
  return [join(dirname(program), '*'), join(packages, '*')];
}

const RETRY_AFTER_SECONDS = 2;

interface Watch {
  slow(): void;
  over(): void;
  starved(): void;
  slowMilliseconds: number;
  millisecondsMax: number;
}

/** Watches the processor time of a running task. */
function watchProcessorTime({ pid }: ChildProcess, watch: Watch): NodeJS.Timeout {
  const startedAt = performance.now();
  const before = cpuMillisecondsOf(pid);
  return setInterval(() => {
    const wall = performance.now() - startedAt;
    const now = cpuMillisecondsOf(pid);
    const cpu = before === undefined || now === undefined ? wall : now - before;
    if (cpu > watch.slowMilliseconds) watch.slow();
    if (isOverTime(watch.millisecondsMax, cpu, wall)) watch.over();
    else if (wall > watch.millisecondsMax * STARVATION_FACTOR) watch.starved();
  }, WATCH_MILLISECONDS);
}

const MILLISECONDS_PER_TICK = 10;

/** Undefined where the system has no /proc. */
function cpuMillisecondsOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MILLISECONDS_PER_TICK;
  } catch {
    return undefined;
  }
}

const isIdle = ({ isReady, isRetired, running }: Worker): boolean =>
  isReady && !isRetired && running === undefined;

function retire(worker: Worker): void {
  worker.isRetired = true;
  worker.child.kill('SIGKILL');
}

function lowerPriority(worker: Worker, tenantId: string): void {
  if (worker.slowFor !== undefined) return;
  worker.slowFor = tenantId;
  try {
    if (worker.child.pid !== undefined)
      setPriority(worker.child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process ended meanwhile, or the system does not allow it; the time limit still holds.
  }
}
