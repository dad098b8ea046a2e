import { randomUUID } from 'node:crypto';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import { expectStatuses, median, statusOf, timeOf, timesInTurns } from './times.ts';
import { tokenOf } from './token.ts';

const WRITES = 200;

/** The texts of a user interface at its start: unchanged, whole, and after a change. */
export async function benchLocalization({ url }: Pick<BenchTarget, 'url'>): Promise<BenchLine[]> {
  const address = `${url}/localization?cultureName=fr`;
  const etag = (await fetch(address)).headers.get('etag') ?? '';
  const unchanged = () => statusOf(address, { 'if-none-match': etag });
  const whole = () => statusOf(address);
  // The shortest way through gateway and service: the service refuses as soon as it reads the address.
  const floor = () => statusOf(`${url}/localization?cultureName=not_a_culture`);

  await expectStatuses([unchanged, 304], [whole, 200], [floor, 400]);
  const times = await timesInTurns({ unchanged, whole, floor });
  const reference = `gateway's floor ${times.floor.toFixed(2)} ms`;
  return [
    {
      job: 'localization bootstrap, 304',
      measured: `${times.unchanged.toFixed(2)} ms`,
      reference,
      ratio: times.unchanged / times.floor,
      goal: 1.2,
    },
    {
      job: 'localization bootstrap, 200',
      measured: `${times.whole.toFixed(2)} ms`,
      reference,
      ratio: times.whole / times.floor,
    },
    await writeToRead(url),
  ];
}

/** How long after a write the next reading of the same text takes; it reads the tenant's texts anew. */
async function writeToRead(url: string): Promise<BenchLine> {
  const tenantId = randomUUID();
  const token = await tokenOf(url, { tenantId, roles: ['admin'] });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const write = (count: number) =>
    statusOf(`${url}/localization/overrides/Bench/fr/title`, headers, `{"value":"${count}"}`);
  const read = () => statusOf(`${url}/localization?cultureName=fr`, headers);
  const afterWrite: number[] = [];
  const repeated: number[] = [];
  for (let count = 0; count < WRITES; count++) {
    await write(count);
    afterWrite.push(await timeOf(read));
    repeated.push(await timeOf(read));
  }
  return {
    job: 'localization bootstrap, first reading after a write',
    measured: `${median(afterWrite).toFixed(2)} ms`,
    reference: `the next reading ${median(repeated).toFixed(2)} ms`,
    ratio: median(afterWrite) / median(repeated),
  };
}
