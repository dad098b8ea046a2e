import { attackScarce } from './fairness.ts';

/** The process that `benchFairness` starts: takes all it can of one scarce thing. */
const [url, name] = process.argv.slice(2) as [string, string];
await attackScarce({ url }, name, () => process.send!('begun'));
