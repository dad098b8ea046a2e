import { buildSync } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { client, gatewayEnvironment, onCloseAll, type StartedGateway } from './start-gateway';

export interface GatewayProcess extends Omit<StartedGateway, 'gateway'> {
  adminPort: number;
  process: ChildProcess;
  /** Asks it to stop, and answers its exit code. */
  stop(): Promise<number | null>;
}

let bundle: string | undefined;

/** Bundles the gateway once for the tests of a file. */
function bundled(): string {
  if (bundle) return bundle;
  const root = process.cwd();
  bundle = join(root, 'node_modules', '.cache', 'gateway-test', `${process.pid}.cjs`);
  buildSync({
    entryPoints: [join(root, 'apps', 'gateway', 'test', 'gateway-process-main.ts')],
    outfile: bundle,
    tsconfig: join(root, 'tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    packages: 'external',
    logLevel: 'silent',
  });
  return bundle;
}

/** Starts a gateway in a process of its own, which can be killed. */
export async function startGatewayProcess(
  services: Record<string, string>,
  environment: Record<string, string> = {},
): Promise<GatewayProcess> {
  const env = { PATH: process.env['PATH'], ...gatewayEnvironment(services, environment) };
  const child = fork(bundled(), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  onCloseAll(() => child.kill('SIGKILL'));
  const [ports] = (await once(child, 'message')) as [{ port: number; adminPort: number }];
  return {
    ...client(ports.port),
    adminPort: ports.adminPort,
    process: child,
    async stop() {
      const exit = once(child, 'exit') as Promise<[number | null]>;
      child.kill('SIGTERM');
      return (await exit)[0];
    },
  };
}
