import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** A process of the platform; its children count as part of it. */
export interface NamedProcess {
  name: string;
  pid: number;
}

/** What a process used while something was measured. */
export interface ProcessUsage {
  name: string;
  cpuSeconds: number;
  /** In which it was ready to run and had no processor. */
  queuedSeconds: number;
  /** Of the largest process, where there are several. */
  peakMegabytes: number;
}

const TICKS_PER_SECOND = 100;

/** Starts to watch processes; the returned function returns what they used since, the busiest first. */
export function watchProcesses(processes: readonly NamedProcess[]): () => ProcessUsage[] {
  const before = new Map(
    processes.map(({ name, pid }) => [name, { cpu: cpuSecondsOf(pid), queued: queuedSecondsOf(pid) }]),
  );
  for (const { pid } of processes) for (const member of processTreeOf(pid)) resetPeak(member);
  return () =>
    processes
      .map(({ name, pid }) => ({
        name,
        cpuSeconds: cpuSecondsOf(pid) - before.get(name)!.cpu,
        queuedSeconds: Math.max(0, queuedSecondsOf(pid) - before.get(name)!.queued),
        peakMegabytes: Math.max(0, ...processTreeOf(pid).map(peakMegabytes)),
      }))
      .sort((left, right) => right.cpuSeconds - left.cpuSeconds);
}

export const describeUsage = (usages: readonly ProcessUsage[]): string[] =>
  usages
    .filter(({ cpuSeconds }) => cpuSeconds >= 0.05)
    .map(
      ({ name, cpuSeconds, peakMegabytes: peak }) =>
        `${name.padEnd(22)} ${cpuSeconds.toFixed(1).padStart(7)} s CPU ${String(Math.round(peak)).padStart(6)} MB at most`,
    );

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

/** The fields of `stat` behind the name of the program, which may contain spaces. */
const statOf = (pid: number): string[] =>
  read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');

/** A process and all that descend from it; asked of itself, since a host has hundreds of others. */
export const processTreeOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(processTreeOf)];

/** Each thread knows the processes that it started. */
const childrenOf = (pid: number): number[] =>
  threadsOf(pid)
    .flatMap((thread) => read(pid, `task/${thread}/children`).split(' '))
    .filter((child) => child !== '')
    .map(Number);

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The time of children that exited is counted by their parent. */
function cpuSecondsOf(pid: number): number {
  const ticks = processTreeOf(pid).map((member, index) =>
    statOf(member)
      .slice(11, index === 0 ? 15 : 13)
      .reduce((sum, field) => sum + Number(field), 0),
  );
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

const NANOSECONDS_PER_SECOND = 1e9;

/** For how long the main threads of those that run waited for a processor; 0 where the system does not count it. */
const queuedSecondsOf = (pid: number): number =>
  processTreeOf(pid).reduce((sum, member) => sum + Number(read(member, 'schedstat').split(' ')[1] ?? 0), 0) /
  NANOSECONDS_PER_SECOND;

/** Resets the peak of memory, where the system allows it. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Then peaks count from the start of the process.
  }
}

const peakMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(read(pid, 'status'))?.[1] ?? 0) / 1024;
