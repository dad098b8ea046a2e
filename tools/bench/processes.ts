import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** A process of the platform; what it starts counts as part of it. */
export interface NamedProcess {
  name: string;
  pid: number;
}

/** What a process used while something was measured. */
export interface ProcessUsage {
  name: string;
  cpuSeconds: number;
  /** Of the largest process, where there are several. */
  peakMegabytes: number;
}

const TICKS_PER_SECOND = 100;

/** Begins to watch processes; the answer ends it and tells what they used, the busiest first. */
export function watchProcesses(processes: readonly NamedProcess[]): () => ProcessUsage[] {
  const before = new Map(processes.map(({ name, pid }) => [name, cpuSecondsOf(pid)]));
  for (const { pid } of processes) for (const member of familyOf(pid)) forgetPeak(member);
  return () =>
    processes
      .map(({ name, pid }) => ({
        name,
        cpuSeconds: cpuSecondsOf(pid) - before.get(name)!,
        peakMegabytes: Math.max(0, ...familyOf(pid).map(peakMegabytes)),
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

/** The fields of `stat` behind the name of the program, which may hold spaces. */
const statOf = (pid: number): string[] =>
  read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');

function familyOf(pid: number): number[] {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && statOf(Number(name))[1] === String(pid),
  );
  return [pid, ...children.map(Number)];
}

/** Children that ended are counted by their parent. */
function cpuSecondsOf(pid: number): number {
  const ticks = familyOf(pid).map((member, index) =>
    statOf(member)
      .slice(11, index === 0 ? 15 : 13)
      .reduce((sum, field) => sum + Number(field), 0),
  );
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

/** Peaks count from now on, where the system lets us say so. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Then they count from the start of the process.
  }
}

const peakMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(read(pid, 'status'))?.[1] ?? 0) / 1024;
