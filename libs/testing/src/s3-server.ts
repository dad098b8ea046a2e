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
  stop(): Promise<void>;
}

/** Runs a real S3 server with one empty bucket on a free port. */
export async function startS3Server(program: string): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-s3-'));
  mkdirSync(join(folder, 'buckets', 'plinth'), { recursive: true });
  mkdirSync(join(folder, 'metadata'));
  const port = await freePort();
  const { access, secret } = credentials;
  const server = spawn(
    program,
    ['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, '--quiet'].concat([
      'posix',
      '--sidecar',
      join(folder, 'metadata'),
      join(folder, 'buckets'),
    ]),
    { stdio: 'ignore' },
  );
  const kill = () => server.kill('SIGKILL');
  process.on('exit', kill);
  process.env['AWS_ACCESS_KEY_ID'] = access;
  process.env['AWS_SECRET_ACCESS_KEY'] = secret;
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(endpoint)).status > 0);
  return {
    url: `s3://plinth/files?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`,
    async stop() {
      process.off('exit', kill);
      if (kill()) await once(server, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
