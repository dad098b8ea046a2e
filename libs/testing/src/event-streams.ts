import { randomUUID } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { infrastructure } from './infrastructure';
import { runDirectory } from './run-directory';

const FOLDER = 'event-streams';
/** NATS sets aside what a stream may store, of a disk that all of the tests share; a spec stores some kilobytes. */
const BYTES_MAX = 16 * 1024 * 1024;

/**
 * The environment of a service with a stream of events at the tests' NATS.
 * @param prefix of a stream that is there already; without it, it has one of its own, which is removed when the run ends
 */
export async function eventStream(
  prefix?: string,
): Promise<Record<'NATS_URL' | 'NATS_PREFIX' | 'NATS_STREAM_BYTES_MAX', string>> {
  return {
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: prefix ?? (await newStream()),
    NATS_STREAM_BYTES_MAX: String(BYTES_MAX),
  };
}

async function newStream(): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const directory = runDirectory();
  if (directory === undefined) throw new Error('Without global setup nobody removes a stream.');
  await mkdir(join(directory, FOLDER, name), { recursive: true });
  return name;
}

/** Removes the streams that specs of this run made; not each when its service closes, since others may still use it. */
export async function removeEventStreams(): Promise<void> {
  const directory = runDirectory();
  if (directory === undefined) return;
  const names = await readdir(join(directory, FOLDER)).catch(() => []);
  if (names.length === 0) return;
  const connection = await connect({ servers: infrastructure().natsUrl });
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  // A service that failed to start made none.
  await Promise.allSettled(names.map((name) => streams.delete(name)));
  await connection.close();
}
