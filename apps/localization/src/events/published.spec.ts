import type { overrideChanged } from '@plinth/contracts/localization/events';
import { RESOURCE_NAME_LENGTH_MAX } from '@plinth/contracts/localization/shapes';
import type { PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { publishOverridesChanged } from './published';

type Payload = PayloadOf<typeof overrideChanged>;

const caller = { tenantId: newId(), userId: 'ann', userName: 'Ann' };

/** What is published of these changes. */
async function published(changed: Parameters<typeof publishOverridesChanged>[2]): Promise<Payload[]> {
  const statements: unknown[][] = [];
  const $executeRawUnsafe = async (_text: string, ...values: unknown[]) => statements.push(values);
  await publishOverridesChanged({ $executeRawUnsafe } as unknown as RawStatements, caller, changed);
  return statements.flat().flatMap((value) => {
    const read = typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : [];
    return Array.isArray(read) ? read.map(({ payload }: { payload: Payload }) => payload) : [read];
  });
}

describe('the event of changed overrides', () => {
  it('names each bundle once, and counts all that changed', async () => {
    const [workflow, shop] = ['Workflow', 'Shop'].map((resourceName) => ({
      resourceName,
      cultureName: 'fr',
    }));
    expect(await published([workflow!, shop!, workflow!])).toEqual([
      { changeCount: 3, bundles: [workflow, shop] },
    ]);
  });

  it('is several events where there are more bundles than NATS takes in a message, as in an import', async () => {
    const changed = Array.from({ length: 4_000 }, (_, index) => ({
      resourceName: String(index).padStart(RESOURCE_NAME_LENGTH_MAX, '資'),
      cultureName: 'zh-Hant',
    }));
    const payloads = await published(changed);
    expect(payloads.flatMap(({ bundles }) => bundles)).toEqual(changed);
    expect(payloads.map(({ changeCount }) => changeCount)).toEqual([1_000, 1_000, 1_000, 1_000]);
  });
});
