import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@plinth/testing/eventually';
import type { SharedPlatform } from '@plinth/testing/shared-platform';
import { startPlatform } from '@plinth/testing/start-platform';
import { Client as Database } from 'pg';
import { limitedPlatform } from './limited-platform';
import { descendantsOf } from './process-tree';

/** Longest time of a job during which processes are killed. */
export const COMPLETION_MILLISECONDS_MAX = 120_000;
const KILLS = 3;
const RESTART_MILLISECONDS_MAX = 60_000;

/** Not a process of the launcher: the children of services that read workbooks just now. */
export const WORKBOOK_READERS = 'workbook readers';

export interface ChaosPlatform {
  url: string;
  /** How often each process was killed. */
  kills: Readonly<Record<string, number>>;
  kill(name: string): void;
  /** Has a process with all its children stand still; returns the function that lets them go on. */
  freeze(name: string): () => void;
  /** Kills some of these processes at random moments of a time; returns their names. */
  killRandomly(names: readonly string[], milliseconds: number): Promise<string[]>;
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
  const platform = await startPlatform({ dataDirectory: folder });
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

  const workbookReaders = (): number[] =>
    ['data-exchange', 'data-exchange-worker']
      .flatMap((name) => descendantsOf(platform.processIds()[name]))
      .filter(({ command }) => command.includes('workbook-reader'))
      .map(({ id }) => id);

  const kill = (name: string): void => {
    const ids = name === WORKBOOK_READERS ? workbookReaders() : [platform.processIds()[name]];
    for (const id of ids) signalProcess(id, 'SIGKILL');
    kills[name] = (kills[name] ?? 0) + 1;
  };

  return {
    url: platform.url,
    kills,
    kill,

    freeze(name) {
      const id = platform.processIds()[name]!;
      // Itself first, so that it has no more children meanwhile.
      signalProcess(id, 'SIGSTOP');
      const frozen = [id, ...descendantsOf(id).map((one) => one.id)];
      for (const one of frozen) signalProcess(one, 'SIGSTOP');
      return () => frozen.toReversed().forEach((one) => signalProcess(one, 'SIGCONT'));
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
      }, RESTART_MILLISECONDS_MAX),
  };
}

/** A process that was killed before may not be running again yet. */
function signalProcess(processId: number | undefined, signal: NodeJS.Signals): void {
  if (processId === undefined) return;
  try {
    process.kill(processId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
