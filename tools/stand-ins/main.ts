import { loadModule } from '../build/load-module.ts';

/** `npm start -- --only SERVICE` runs this: stand-ins of all other services, in one process. */
await loadModule('tools/stand-ins/program.ts');
