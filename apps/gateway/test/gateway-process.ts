import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { bundledProgram } from '@plinth/testing/bundled-program';
import { client, gatewayEnvironment, onCloseAll, type StartedGateway } from './start-gateway';

export interface GatewayProcess extends Omit<StartedGateway, 'gateway'> {
  adminPort: number;
  process: ChildProcess;
  /** Stops it with SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>;
}

const program = 'apps/gateway/test/gateway-process-main.ts';

/**
 * Starts a gateway in a process of its own, which can be killed.
 * @param packages `external` where its memory matters, as it is shipped
 */
export async function startGatewayProcess(
  services: Record<string, string>,
  environment: Record<string, string> = {},
  execArgv: readonly string[] = [],
  packages: 'external' | 'bundle' = 'bundle',
): Promise<GatewayProcess> {
  const env = { PATH: process.env['PATH'], ...gatewayEnvironment(services, environment) };
  const child = fork(bundledProgram(program, {}, packages), {
    env,
    execArgv: [...execArgv],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
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
