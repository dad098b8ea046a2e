import { createFolders, layoutOf } from '../paths.mjs';
import { reservePorts } from '../ports.mjs';
import { stopOnce } from '../stop-once.mjs';
import { Supervisor } from '../supervisor.mjs';

/** Keeps a server and a service running in the given folder, for the process of the given pid where there is one (supervisor.spec.ts). */
const [, , folder, parent] = process.argv;
const layout = layoutOf(folder);
createFolders(layout);
const ports = await reservePorts(layout.ports, ['server', 'service']);
const supervisor = new Supervisor(layout);

for (const name of /** @type {const} */ (['server', 'service'])) {
  const kind = name === 'server' ? 'server' : 'service';
  const script = `
    require('node:net').createServer((socket) => socket.end()).listen(${ports[name]}, '127.0.0.1');
    process.on('SIGTERM', () => { console.log('stopped', '${name}', Date.now()); process.exit(0); });`;
  supervisor.start({
    name,
    kind,
    command: process.execPath,
    args: ['-e', script],
    env: process.env,
    port: ports[name],
    probe: { kind: 'tcp', port: ports[name] },
  });
  await supervisor.untilReady(name, 20);
}
stopOnce(
  () => void supervisor.stop().then(() => process.exit(0)),
  parent === undefined ? parent : Number(parent),
);
supervisor.describe({ ready: true });
