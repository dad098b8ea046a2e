import { bundleServices } from './bundle-services.ts';
import { bundleWorkflows } from './bundle-workflows.ts';

/** `npm run build`: what the processes are started from. */
async function main() {
  const [changed, workflows] = await Promise.all([bundleServices(), bundleWorkflows()]);
  const made = [
    ...(changed > 0 ? [`${changed} files`] : []),
    ...workflows.map((name) => `workflows of ${name}`),
  ];
  console.log(made.length === 0 ? 'up to date' : `built: ${made.join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
