import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const MILLISECONDS = 100;

/**
 * Ends the largest process of a browser whenever all of them together have more memory than they may: the page whose
 * document takes it all crashes, and the others print on. Does nothing where the system has no `/proc`.
 * @param isPrinting only then it may take more
 * @param onEnded is called before the page crashes
 * @returns ends the watch
 */
export function limitMemory(
  browser: ChildProcess | null,
  megabytesMax: number,
  isPrinting: () => boolean,
  onEnded: () => void,
): () => void {
  const look = (): void => {
    if (browser?.pid === undefined || !isPrinting()) return;
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
  const timer = setInterval(look, MILLISECONDS);
  return () => clearInterval(timer);
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
