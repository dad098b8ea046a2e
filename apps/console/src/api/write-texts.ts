import type { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { ApiProblem } from '@plinth/sdk/api-problem';
import type { Client } from '@plinth/sdk/client';
import { nameOf, type TextChange } from './text-changes';

type TextPlatform = Pick<
  Client<typeof localizationEndpoints>,
  'putLocalizationOverrides' | 'removeLocalizationOverrides'
>;

/**
 * By their names, the texts of which nobody knows here what the platform has, each with what was sent: there was no
 * response to it, or it is shown although it was refused. Undefined where several values were sent.
 */
export type UncertainTexts = Map<string, string | null | undefined>;

interface WrittenTexts {
  written: TextChange[];
  /** With why. */
  refused: { change: TextChange; detail: string }[];
  /** What was not written, since somebody else wrote there meanwhile. */
  overtaken: TextChange[];
}

type Text = TextChange & { value: string };
const isText = (change: TextChange): change is Text => change.value !== null;

const BATCH_MAX = 500;

/**
 * Writes texts that are still as they are expected to be, as far as that is given.
 * @param uncertain changes with what becomes known, also where this fails
 */
export async function writeTexts(
  platform: TextPlatform,
  { changes, expected }: { changes: readonly TextChange[]; expected: readonly TextChange[] },
  uncertain: UncertainTexts,
): Promise<WrittenTexts> {
  const outcome: WrittenTexts = { written: [], refused: [], overtaken: [] };
  const former = new Map(expected.map((one) => [nameOf(one), one.value]));
  const asExpected = <Change extends TextChange>(change: Change) => {
    const name = nameOf(change);
    // Sent again, it is still written over nothing but what was expected: the platform knows it where it came.
    const isKnown = !uncertain.has(name) || uncertain.get(name) === change.value;
    const formerValue = isKnown ? former.get(name) : undefined;
    return formerValue === undefined ? change : { ...change, formerValue };
  };
  const markUncertain = (change: TextChange) => {
    const name = nameOf(change);
    const isAnother = uncertain.has(name) && uncertain.get(name) !== change.value;
    uncertain.set(name, isAnother ? undefined : change.value);
  };
  let sent: readonly TextChange[] = [];
  try {
    for (const texts of batchesOf(changes.filter(isText))) {
      sent = texts;
      const { body } = await platform.putLocalizationOverrides({ body: { items: texts.map(asExpected) } });
      body.results.forEach(({ error }, index) => {
        const change = texts[index]!;
        if (!error) outcome.written.push(change);
        else if (error.status === 409) outcome.overtaken.push(change);
        else outcome.refused.push({ change, detail: error.detail });
      });
    }
    for (const removals of batchesOf(changes.filter((change) => !isText(change)))) {
      sent = removals;
      const overtaken = new Set(await removeTexts(platform, removals, asExpected));
      for (const change of removals) outcome[overtaken.has(change) ? 'overtaken' : 'written'].push(change);
    }
  } catch (error) {
    // It is sent again with what was written before it failed.
    const isUnknown = !(error instanceof ApiProblem) || error.status >= 500;
    for (const change of isUnknown ? [...outcome.written, ...sent] : outcome.written) markUncertain(change);
    throw error;
  }
  for (const change of outcome.written) uncertain.delete(nameOf(change));
  for (const { change } of outcome.refused) markUncertain(change);
  return outcome;
}

/** Takes texts away, and returns those that it left since somebody else wrote there: the platform takes all or none. */
async function removeTexts(
  platform: TextPlatform,
  removals: readonly TextChange[],
  asExpected: (change: TextChange) => TextChange & { formerValue?: string | null },
): Promise<TextChange[]> {
  if (removals.length === 0) return [];
  try {
    const items = removals.map((change) => {
      const { value: _, ...item } = asExpected(change);
      return item;
    });
    await platform.removeLocalizationOverrides({ body: { items } });
    return [];
  } catch (error) {
    const places = error instanceof ApiProblem && error.status === 409 ? error.problem['staleItems'] : [];
    const overtaken = new Set((places as number[]).map((place) => removals[place]!));
    if (overtaken.size === 0) throw error;
    const rest = removals.filter((change) => !overtaken.has(change));
    return [...overtaken, ...(await removeTexts(platform, rest, asExpected))];
  }
}

const batchesOf = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH_MAX) }, (_, index) =>
    items.slice(index * BATCH_MAX, (index + 1) * BATCH_MAX),
  );
