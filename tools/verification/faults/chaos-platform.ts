import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@plinth/testing/eventually';
import type { SharedPlatform } from '@plinth/testing/shared-platform';
import { startPlatform } from '@plinth/testing/start-platform';
import { Client as Database } from 'pg';
import type { Probe } from '../../development/launcher/probes.mjs';
import { processTreeOf } from '../bench/processes.ts';
import { LIMITED, limitedPlatform } from './limited-platform';

/** Longest time of a job during which processes are killed: a bound for what hangs, on any machine. */
export const COMPLETION_MILLISECONDS_MAX = 300_000;
const KILLS = 3;

/** Not a process of the launcher: the children of services that read workbooks just now. */
export const WORKBOOK_READERS = 'workbook readers';

const PLACES_TAKEN = /^plinth_places_taken\{places="([^"]+)".*\} (\d+)$/gm;

export interface ChaosPlatform {
  url: string;
  /** How often each process was killed. */
  kills: Readonly<Record<string, number>>;
  kill(name: string): void;
  /** As it is now: a process that was killed is started again with another id. */
  processId(name: string): number | undefined;
  /** Has a process with all its children stand still; returns the function that lets them go on. */
  freeze(name: string): () => void;
  /** Kills some of these processes at random moments of a time; returns their names. */
  killRandomly(names: readonly string[], milliseconds: number): Promise<string[]>;
  /** What holds a place that work shares, by process and places; nothing where nothing runs. */
  placesTaken(): Promise<Record<string, number>>;
  /** Rows of the database of a service; waits for a database that was just killed. */
  query(service: string, text: string, values: unknown[]): Promise<unknown[]>;
}

export interface LoneChaosPlatform extends ChaosPlatform {
  stop(options: { keepsLogs: boolean }): Promise<void>;
}

/** Starts a platform of its own whose processes can be killed; their supervisor starts them again. */
export async function startChaosPlatform(random: () => number): Promise<LoneChaosPlatform> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-faults-'));
  // For root the database server runs as another user, who needs access.
  chmodSync(folder, 0o755);
  const platform = await startPlatform({ dataDirectory: folder, environment: LIMITED });
  return {
    ...chaosOn(platform, random),
    async stop({ keepsLogs }) {
      await platform.stop();
      if (keepsLogs) console.log(`The logs of the processes are in ${join(folder, 'logs')}.`);
      else rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The platform that the small campaigns of a run share, one after the other. */
export const sharedChaosPlatform = async (random: () => number): Promise<ChaosPlatform> =>
  chaosOn(await limitedPlatform(), random);

function chaosOn(platform: SharedPlatform, random: () => number): ChaosPlatform {
  const folder = platform.dataDirectory;
  const kills: Record<string, number> = {};

  const treeOf = (name: string): number[] => {
    const id = platform.processIds()[name];
    return id === undefined ? [] : processTreeOf(id);
  };
  const workbookReaders = (): number[] =>
    ['data-exchange', 'data-exchange-worker'].flatMap(treeOf).filter(isWorkbookReader);

  const kill = (name: string): void => {
    const ids = name === WORKBOOK_READERS ? workbookReaders() : [platform.processIds()[name]];
    const killed = ids.filter((id) => signalProcess(id, 'SIGKILL'));
    kills[name] = (kills[name] ?? 0) + killed.length;
  };

  return {
    url: platform.url,
    kills,
    kill,
    processId: (name) => platform.processIds()[name],

    freeze(name) {
      // Itself first, so that it has no more children meanwhile.
      signalProcess(platform.processIds()[name], 'SIGSTOP');
      const frozen = treeOf(name);
      for (const id of frozen) signalProcess(id, 'SIGSTOP');
      return () => frozen.toReversed().forEach((id) => signalProcess(id, 'SIGCONT'));
    },

    async killRandomly(names, milliseconds) {
      const moments = Array.from({ length: KILLS }, () => random() * milliseconds).sort(
        (one, other) => one - other,
      );
      const startedAt = Date.now();
      const killed: string[] = [];
      for (const moment of moments) {
        await pause(Math.max(0, moment - (Date.now() - startedAt)));
        const name = names[Math.floor(random() * names.length)]!;
        kill(name);
        killed.push(name);
      }
      return killed;
    },

    async placesTaken() {
      const state: { processes: { name: string; probe: Probe }[] } = JSON.parse(
        readFileSync(join(folder, 'processes.json'), 'utf8'),
      );
      const taken: Record<string, number> = {};
      for (const { name, probe } of state.processes) {
        if (probe.kind !== 'http' || !probe.url.endsWith('/readyz')) continue;
        const text = await (await fetch(probe.url.replace(/readyz$/, 'metrics'))).text();
        for (const [, places, count] of text.matchAll(PLACES_TAKEN))
          // To read the metrics takes one connection of the platform.
          if (Number(count) > (places === 'platform-connections' ? 1 : 0))
            taken[`${name}: ${places}`] = Number(count);
      }
      return taken;
    },

    query: (service, text, values) =>
      eventually(async () => {
        const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
        const database = new Database({
          host: '127.0.0.1',
          port: read('ports.json').postgres,
          user: 'postgres',
          password: read('secrets.json').postgresPassword,
          database: `plinth_${service}`,
        });
        await database.connect();
        try {
          return (await database.query(text, values)).rows;
        } finally {
          await database.end();
        }
      }),
  };
}

function isWorkbookReader(processId: number): boolean {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, 'utf8').includes('workbook-reader');
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** Whether there was somebody to get the signal: a process that was killed before may not be running again yet. */
function signalProcess(processId: number | undefined, signal: NodeJS.Signals): boolean {
  if (processId === undefined) return false;
  try {
    return process.kill(processId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}
