import { readFileSync } from 'node:fs';
import { processTreeOf, resetPeak } from '../bench/processes.ts';

/**
 * Watches what the pod of a process would be charged with, its children included; the returned function ends that, and
 * returns the most in mebibytes. What is mapped from files, as programs are, does not count: before it ends a process, the
 * kernel takes that back.
 * @param everyMilliseconds where there are children, more may be missed by looking seldom
 */
export function watchPodMemory(pid: number, everyMilliseconds = 100): () => number {
  let most = 0;
  resetPeak(pid);
  const look = (): void => {
    const tree = processTreeOf(pid);
    most = Math.max(most, tree.length === 1 ? peakOf(pid) : sumOf(tree));
  };
  look();
  const timer = setInterval(look, everyMilliseconds);
  return () => {
    clearInterval(timer);
    look();
    return Math.round(most);
  };
}

const peakOf = (pid: number): number =>
  mebibytesOf(pid, 'status', 'VmHWM') - mebibytesOf(pid, 'status', 'RssFile');

/** Processes of a browser share memory, which counts once. */
const sumOf = (pids: readonly number[]): number =>
  pids.reduce(
    (sum, pid) =>
      sum + mebibytesOf(pid, 'smaps_rollup', 'Pss_Anon') + mebibytesOf(pid, 'smaps_rollup', 'Pss_Shmem'),
    0,
  );

function mebibytesOf(pid: number, file: string, field: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}
