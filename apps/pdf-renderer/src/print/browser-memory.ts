import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const MILLISECONDS = 100;
/** After this time without a look the number of a process may be that of another one. */
const STALE_MILLISECONDS = 1_000;

/** Watches the memory of a browser while it prints. */
export interface MemoryWatch {
  begin(): void;
  end(): void;
}

/**
 * Ends the largest process of a browser whenever all of them together have more memory than they may: the page whose
 * document takes it all crashes, and the others print on. Does nothing where the system has no `/proc`.
 * @param onEnded is called before the page crashes
 */
export function limitMemory(
  browser: ChildProcess | null,
  megabytesMax: number,
  onEnded: () => void,
): MemoryWatch {
  const processes = new ProcessTree();
  const look = (): void => {
    if (browser?.pid === undefined) return;
    const sizes = processes.below(browser.pid).map((one) => ({ pid: one, megabytes: megabytesOf(one) }));
    const total = sizes.reduce((sum, { megabytes }) => sum + megabytes, 0);
    const [largest] = sizes.sort((left, right) => right.megabytes - left.megabytes);
    if (total <= megabytesMax || !largest) return;
    onEnded();
    try {
      process.kill(largest.pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    begin: () => (timer ??= setInterval(look, MILLISECONDS)),
    end: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/**
 * Processes of the machine by their parents. Each is asked once for its parent while a browser prints: a host has hundreds of them,
 * and reading all of them ten times a second takes an eighth of a processor, in steps of the event loop that all documents
 * wait for.
 */
export class ProcessTree {
  private parents: ReadonlyMap<number, number> = new Map();
  private lookedAt = 0;

  /** @param ids and `parentOf` read what the system has, where a test has nothing else */
  constructor(
    private readonly ids = processIds,
    private readonly parentOf = readParent,
  ) {}

  /** A process and all that descend from it. */
  below(pid: number): number[] {
    const now = performance.now();
    if (now - this.lookedAt > STALE_MILLISECONDS) this.parents = new Map();
    this.lookedAt = now;
    const ids = new Set(this.ids());
    // One whose parent has ended has another.
    const parentOf = (id: number): number => {
      const known = this.parents.get(id);
      return known !== undefined && ids.has(known) ? known : this.parentOf(id);
    };
    this.parents = new Map([...ids].map((id) => [id, parentOf(id)]));
    const childrenOf = Map.groupBy(this.parents.keys(), (id) => this.parents.get(id)!);
    const treeOf = (root: number): number[] => [root, ...(childrenOf.get(root) ?? []).flatMap(treeOf)];
    return treeOf(pid);
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** The name of the program stands in brackets before it, and may contain anything. */
const readParent = (pid: number): number => Number(/^.*\) \S (\d+)/s.exec(read(pid, 'stat'))?.[1] ?? 0);

/** What cannot be taken from it without swapping: not the program that all of them have in common. */
const megabytesOf = (pid: number): number =>
  [...read(pid, 'status').matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB/gm)].reduce(
    (sum, [, kilobytes]) => sum + Number(kilobytes) / 1024,
    0,
  );

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
