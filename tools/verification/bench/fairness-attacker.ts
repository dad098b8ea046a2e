import { attackScarce } from './scarce-things.ts';

/** The process that `startAttacker` starts: takes all it can of one scarce thing. */
// Whoever started it may be killed.
process.on('disconnect', () => process.exit());
const [url, name] = process.argv.slice(2) as [string, string];
await attackScarce({ url }, name, () => process.send!('begun'));
