import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from './free-port';

const credentials = { access: 'plinth-test', secret: 'plinth-test-secret' };

export interface S3Server {
  /** A blob store URL of the bucket; the credentials are in the environment of this process. */
  readonly url: string;
  /** Ends the server as a crash would; its files stay until `stop`. */
  crash(): Promise<void>;
  /** Starts it again on the same port with the same files. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a real S3 server with one empty bucket on a free port. */
export async function startS3Server(program: string): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-s3-'));
  mkdirSync(join(folder, 'buckets', 'plinth'), { recursive: true });
  mkdirSync(join(folder, 'metadata'));
  const port = await freePort();
  const { access, secret } = credentials;
  const run = () =>
    spawn(
      program,
      ['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, '--quiet'].concat([
        'posix',
        '--sidecar',
        join(folder, 'metadata'),
        join(folder, 'buckets'),
      ]),
      { stdio: 'ignore' },
    );
  let server = run();
  const kill = () => server.kill('SIGKILL');
  const crash = async (): Promise<void> => {
    if (kill()) await once(server, 'exit');
  };
  process.on('exit', kill);
  process.env['AWS_ACCESS_KEY_ID'] = access;
  process.env['AWS_SECRET_ACCESS_KEY'] = secret;
  const endpoint = `http://127.0.0.1:${port}`;
  const isUp = () => eventually(async () => (await fetch(endpoint)).status > 0);
  await isUp();
  return {
    url: `s3://plinth/files?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`,
    crash,
    async restart() {
      server = run();
      await isUp();
    },
    async stop() {
      process.off('exit', kill);
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
