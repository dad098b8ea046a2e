import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const MILLISECONDS = 100;

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
  const look = (): void => {
    if (browser?.pid === undefined) return;
    const sizes = processTreeOf(browser.pid).map((one) => ({ pid: one, megabytes: megabytesOf(one) }));
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

function processTreeOf(pid: number): number[] {
  const childrenOf = Map.groupBy(processIds(), parentOf);
  const treeOf = (root: number): number[] => [root, ...(childrenOf.get(root) ?? []).flatMap(treeOf)];
  return treeOf(pid);
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
const parentOf = (pid: number): number => Number(/^.*\) \S (\d+)/s.exec(read(pid, 'stat'))?.[1] ?? 0);

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
