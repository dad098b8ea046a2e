import { loadModule } from '../build/load-module.ts';

/** `npm start -- --only SERVICE` runs this: stubs of all other services, in one process. */
await loadModule('tools/development/service-stubs/program.ts');
