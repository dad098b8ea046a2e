import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

/** The services as the launcher finds them, for specs: jest cannot load its modules. */
export function discoveredServices(): {
  name: string;
  hasMain: boolean;
  hasHttp: boolean;
  hasWorker: boolean;
  hasDatabase: boolean;
}[] {
  const script =
    "import('./tools/development/launcher/services.mjs').then((m) => console.log(JSON.stringify(m.discoverServices())))";
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' }));
}
