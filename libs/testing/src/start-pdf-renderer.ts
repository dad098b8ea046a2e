import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bundledProgram } from './bundled-program';
import { eventually } from './eventually';
import { findOrInstall } from './find-or-install';
import { TEST_KEYS } from './http';

/** Starts the PDF renderer as a process of its own, as it runs beside the template service; close it when done. */
export async function startPdfRenderer(environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bundledProgram('apps/pdf-renderer/src/main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      HTTP_HOST: '127.0.0.1',
      GRPC_PORT: '0',
      ADMIN_PORT: '0',
      PDF_RENDERER_KEYS: TEST_KEYS.join(','),
      PUPPETEER_EXECUTABLE_PATH: findOrInstall('chromium'),
      ...environment,
    },
  });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ports = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`The PDF renderer exited: ${log}`);
    const [line] = /\{.*"msg":"ready".*\}/.exec(log) ?? [];
    return line === undefined ? undefined : (JSON.parse(line) as { grpc: number; admin: number });
  });
  return {
    processId: child.pid!,
    address: `127.0.0.1:${ports.grpc}`,
    /** Of `/readyz` and `/metrics`. */
    adminUrl: `http://127.0.0.1:${ports.admin}`,
    close: async () => {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}
