import { discoverServices } from '../launcher/services.mjs';
import { bundleServices } from './bundle-services.ts';
import { areWorkflowsOutdated, bundleWorkflows, hasWorkflows } from './bundle-workflows.ts';

/**
 * What the processes are started from: of the services named (Nx names those that changed), or of all, where bundles of
 * workflows are made again only when they are out of date.
 */
async function main() {
  const names = process.argv.slice(2);
  const services = discoverServices().filter(({ name }) => names.length === 0 || names.includes(name));
  const withWorkflows = services
    .filter(hasWorkflows)
    .filter((service) => names.length > 0 || areWorkflowsOutdated(service));
  const [changed] = await Promise.all([bundleServices(services), ...withWorkflows.map(bundleWorkflows)]);
  const made = [
    ...(changed > 0 ? [`${changed} files`] : []),
    ...withWorkflows.map(({ name }) => `workflows of ${name}`),
  ];
  console.log(made.length === 0 ? 'up to date' : `built: ${made.join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
