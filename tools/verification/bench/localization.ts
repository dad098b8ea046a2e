import { randomUUID } from 'node:crypto';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import { expectStatuses, median, statusOf, timeOf, interleavedTimes } from './times.ts';
import { tokenOf } from './token.ts';

const WRITES = 200;

/** The texts of a user interface at its start: unchanged, whole, and after a change. */
export async function benchLocalization({ url }: Pick<BenchTarget, 'url'>): Promise<BenchLine[]> {
  const address = `${url}/localization?cultureName=fr`;
  const etag = (await fetch(address)).headers.get('etag') ?? '';
  const unchanged = () => statusOf(address, { 'if-none-match': etag });
  const whole = () => statusOf(address);
  // The least that gateway and service can do: the service refuses the request by its path or query.
  const floor = () => statusOf(`${url}/localization?cultureName=not_a_culture`);

  await expectStatuses([unchanged, 304], [whole, 200], [floor, 400]);
  const times = await interleavedTimes({ unchanged, whole, floor });
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

/** How long the first read after a write takes, which loads the texts of the tenant again. */
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
    job: 'localization bootstrap, first read after a write',
    measured: `${median(afterWrite).toFixed(2)} ms`,
    reference: `the next read ${median(repeated).toFixed(2)} ms`,
    ratio: median(afterWrite) / median(repeated),
  };
}
