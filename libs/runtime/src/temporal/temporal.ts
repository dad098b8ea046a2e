import { Client, Connection } from '@temporalio/client';
import { unavailable } from '@plinth/kernel/problem';
import type { Close } from '../process/lifecycle';
import { temporalConnection, type TemporalConfig } from './temporal-connection';
import { traceWorkflows } from './temporal-trace';

/** A Temporal client that connects when first needed. */
export interface Temporal {
  /** @throws Problem `overloaded` while no server answers. */
  client(): Promise<Client>;
  /** Throws while no server answers. */
  check(): Promise<void>;
  close: Close;
}

const CONNECT_MILLISECONDS_MAX = 3_000;

/** Prepares a client; the process starts also while Temporal is away. */
export function createTemporal(config: TemporalConfig): Temporal {
  let connecting: Promise<Connection> | undefined;
  const connection = (): Promise<Connection> => {
    connecting ??= Connection.connect({
      ...temporalConnection(config),
      connectTimeout: CONNECT_MILLISECONDS_MAX,
    }).catch((error: unknown) => {
      connecting = undefined;
      throw unavailable('The server for long-running work does not respond; try again.', error);
    });
    return connecting;
  };
  return {
    client: async () =>
      new Client({
        connection: await connection(),
        namespace: config.TEMPORAL_NAMESPACE,
        interceptors: { workflow: [traceWorkflows] },
      }),
    check: async () => {
      await (await connection()).workflowService.getSystemInfo({});
    },
    close: async () => {
      await (await connecting?.catch(() => undefined))?.close();
    },
  };
}
