import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import { expectStatuses, statusOf, interleavedTimes } from './times.ts';
import { tokenOf } from './token.ts';

/** Reading settings, which other services and every page do all the time. */
export async function benchSettings({ url }: Pick<BenchTarget, 'url'>): Promise<BenchLine[]> {
  const headers = { authorization: `Bearer ${await tokenOf(url, { roles: ['editor'] })}` };
  const settings = `${url}/api/v1/settings`;
  const one = () => statusOf(`${settings}/user/Service.Localization.PreferredCulture`, headers);
  const all = () => statusOf(`${settings}/user`, headers);
  // The least that gateway and service can do: the service refuses the request by its path or query.
  const floor = () => statusOf(`${settings}/unknown/x`, headers);

  await expectStatuses([one, 200], [all, 200], [floor, 400]);
  const times = await interleavedTimes({ one, all, floor });
  const reference = `gateway's floor ${times.floor.toFixed(2)} ms`;
  return [
    {
      job: 'settings, one value',
      measured: `${times.one.toFixed(2)} ms`,
      reference,
      ratio: times.one / times.floor,
      goal: 1.5,
    },
    {
      job: 'settings, all of a user',
      measured: `${times.all.toFixed(2)} ms`,
      reference,
      ratio: times.all / times.floor,
    },
  ];
}
