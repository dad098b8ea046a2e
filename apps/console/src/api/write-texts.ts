import type { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { ApiProblem } from '@plinth/sdk/api-problem';
import type { Client } from '@plinth/sdk/client';
import { nameOf, without, type TextChange } from './text-changes';

type TextPlatform = Pick<
  Client<typeof localizationEndpoints>,
  'putLocalizationOverrides' | 'removeLocalizationOverrides'
>;

/** The texts of which the platform may have something else than is shown here, by their names. */
export interface UnsettledTexts {
  /** What was sent where nobody knows here what the platform has now; undefined where that was several values. */
  uncertain: Map<string, string | null | undefined>;
  /** Each value that was refused, with the one that was expected to be there, and is what it was sent over. */
  refused: Map<string, Map<string | null, string | null>>;
}

export const settledTexts = (): UnsettledTexts => ({ uncertain: new Map(), refused: new Map() });

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
 * @param unsettled changes with what becomes known, also where this fails
 */
export async function writeTexts(
  platform: TextPlatform,
  { changes, expected }: { changes: readonly TextChange[]; expected: readonly TextChange[] },
  { uncertain, refused }: UnsettledTexts,
): Promise<WrittenTexts> {
  const outcome: WrittenTexts = { written: [], refused: [], overtaken: [] };
  const former = new Map(expected.map((one) => [nameOf(one), one.value]));
  const formerValueOf = (change: TextChange) => {
    const name = nameOf(change);
    // Sent again, it is still written over nothing but what was expected: the platform knows it where it came.
    if (uncertain.has(name) && uncertain.get(name) !== change.value) return undefined;
    const shown = former.get(name);
    const sentOver = shown === undefined ? undefined : refused.get(name)?.get(shown);
    // What was shown here and refused is what the platform never had.
    return sentOver === undefined ? shown : sentOver;
  };
  const asExpected = <Change extends TextChange>(change: Change) => {
    const formerValue = formerValueOf(change);
    return formerValue === undefined ? change : { ...change, formerValue };
  };
  const markUncertain = (change: TextChange) => {
    const name = nameOf(change);
    const isAnother = uncertain.has(name) && uncertain.get(name) !== change.value;
    uncertain.set(name, isAnother ? undefined : change.value);
  };
  const markRefused = (change: TextChange) => {
    const name = nameOf(change);
    const formerValue = formerValueOf(change);
    if (formerValue === undefined || formerValue === change.value) return;
    refused.set(name, new Map(refused.get(name)).set(change.value, formerValue));
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
    // A conflict of a whole request is one with itself: it was sent before, and is still under way.
    const isUnknown = !(error instanceof ApiProblem) || error.status >= 500 || error.status === 409;
    // It is sent again with what was written before it failed.
    const unknown = isUnknown ? [...outcome.written, ...sent] : outcome.written;
    for (const change of without(without(changes, unknown), outcome.overtaken)) markRefused(change);
    for (const change of unknown) markUncertain(change);
    throw error;
  }
  for (const { change } of outcome.refused) markRefused(change);
  for (const change of [...outcome.written, ...outcome.overtaken]) uncertain.delete(nameOf(change));
  for (const change of outcome.written) refused.delete(nameOf(change));
  return outcome;
}

/**
 * Takes what was read of a text, after all that was sent of it.
 * @returns whether that is what was sent from here, and not what somebody else wrote
 */
export function settleText({ uncertain, refused }: UnsettledTexts, text: TextChange): boolean {
  const name = nameOf(text);
  const isOwn = uncertain.get(name) === text.value;
  uncertain.delete(name);
  // Otherwise it stays: somebody may still see what was refused, in an editor.
  if (refused.get(name)?.has(text.value)) refused.delete(name);
  return isOwn;
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
    const places = error instanceof ApiProblem && error.status === 409 && error.problem['staleItems'];
    const overtaken = new Set(((places || []) as number[]).map((place) => removals[place]!));
    if (overtaken.size === 0) throw error;
    const rest = removals.filter((change) => !overtaken.has(change));
    return [...overtaken, ...(await removeTexts(platform, rest, asExpected))];
  }
}

const batchesOf = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH_MAX) }, (_, index) =>
    items.slice(index * BATCH_MAX, (index + 1) * BATCH_MAX),
  );
