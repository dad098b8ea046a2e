import { join } from 'node:path';
import { withLock } from '../launcher/lock.mjs';
import { root } from '../launcher/paths.mjs';
import { discoverServices } from '../launcher/services.mjs';
import { bundleConsole, CONSOLE, isConsoleOutdated } from './bundle-console.ts';
import { bundleReference, isReferenceOutdated, REFERENCE } from './bundle-reference.ts';
import { bundleServices } from './bundle-services.ts';
import { areWorkflowsOutdated, bundleWorkflows, hasWorkflows } from './bundle-workflows.ts';

/**
 * What the processes are started from, the console and the API reference: of the projects named (Nx names those that
 * changed), or of all, where bundles of workflows and what browsers get are made again only when they are out of date.
 */
async function main() {
  const names = process.argv.slice(2);
  const services = discoverServices().filter(({ name }) => names.length === 0 || names.includes(name));
  const withWorkflows = services
    .filter(hasWorkflows)
    .filter((service) => names.length > 0 || areWorkflowsOutdated(service));
  const withConsole = names.length > 0 ? names.includes(CONSOLE) : isConsoleOutdated();
  const withReference = names.length > 0 ? names.includes(REFERENCE) : isReferenceOutdated();
  const [changed] = await Promise.all([
    bundleServices(services),
    ...withWorkflows.map(bundleWorkflows),
    ...(withConsole ? [bundleConsole()] : []),
    ...(withReference ? [bundleReference()] : []),
  ]);
  const made = [
    ...(changed > 0 ? [`${changed} files`] : []),
    ...withWorkflows.map(({ name }) => `workflows of ${name}`),
    ...(withConsole ? ['the console'] : []),
    ...(withReference ? ['the API reference'] : []),
  ];
  console.log(made.length === 0 ? 'up to date' : `built: ${made.join(', ')}`);
}

// Specs of several projects start platforms side by side: one makes what all of them need, the others find it.
withLock(join(root, 'dist', 'build.lock'), main, {
  onWait: (pid) => console.error(`waiting for process ${pid}, which builds`),
}).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
