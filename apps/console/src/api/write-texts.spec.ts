import { ApiProblem } from '@plinth/sdk/api-problem';
import type { TextChange } from './text-changes';
import { settledTexts, settleText, writeTexts, type UnsettledTexts } from './write-texts';

const text = (key: string, value: string | null): TextChange => ({
  resourceName: 'Shop',
  key,
  cultureName: 'en',
  value,
});

const problem = (status: number, extensions: object = {}) =>
  new ApiProblem(
    { type: 'about:blank', title: 'Refused', status, detail: 'No.', instance: '', ...extensions },
    undefined,
  );

type Item = Omit<TextChange, 'value'> & { value?: string; formerValue?: string | null };

/** A platform with these texts; a request that `fails` is written all the same where that gives no status below 500. */
function platformWith(texts: Record<string, string>, fails: () => Error | undefined = () => undefined) {
  const asked: Item[][] = [];
  const isStale = ({ key, formerValue }: Item) =>
    formerValue !== undefined && (texts[key] ?? null) !== formerValue;
  const begin = (items: Item[]) => {
    asked.push(items);
    const error = fails();
    if (error instanceof ApiProblem && error.status < 500) throw error;
    return error;
  };
  const platform = {
    putLocalizationOverrides: ({ body: { items } }: { body: { items: Item[] } }) => {
      const error = begin(items);
      const results = items.map((item) => {
        if (item.value === 'refused') return { error: { status: 422, detail: 'No such words.' } };
        if (isStale(item) && texts[item.key] !== item.value) return { error: { status: 409, detail: '' } };
        texts[item.key] = item.value!;
        return { error: null };
      });
      if (error) throw error;
      return { body: { results } };
    },
    removeLocalizationOverrides: ({ body: { items } }: { body: { items: Item[] } }) => {
      const error = begin(items);
      const staleItems = items.flatMap((item, place) => (item.key in texts && isStale(item) ? [place] : []));
      if (staleItems.length > 0) throw problem(409, { staleItems });
      for (const { key } of items) delete texts[key];
      if (error) throw error;
    },
  };
  return { asked, platform: platform as unknown as Parameters<typeof writeTexts>[0] };
}

describe('texts', () => {
  let unsettled: UnsettledTexts;
  beforeEach(() => {
    unsettled = settledTexts();
  });

  it('are written and taken away where they are as expected, each alone', async () => {
    const texts = { a: 'old', b: 'theirs', c: 'old', d: 'theirs', e: 'theirs' };
    const { platform, asked } = platformWith(texts);
    const changes = [
      text('a', 'mine'),
      text('b', 'mine'),
      text('new', 'mine'),
      text('x', 'refused'),
      text('c', null),
      text('d', null),
      text('e', null),
    ];
    const expected = [...['a', 'b', 'c', 'd'].map((key) => text(key, 'old')), text('e', null)];
    const { written, refused, overtaken } = await writeTexts(platform, { changes, expected }, unsettled);
    expect(written.map(({ key }) => key)).toEqual(['a', 'new', 'c']);
    expect(refused).toEqual([{ change: text('x', 'refused'), detail: 'No such words.' }]);
    expect(overtaken.map(({ key }) => key)).toEqual(['b', 'd', 'e']);
    expect(texts).toEqual({ a: 'mine', b: 'theirs', new: 'mine', d: 'theirs', e: 'theirs' });
    expect(asked.map((items) => items.length)).toEqual([4, 3, 1]);
  });

  it('are not written over what others wrote after a refusal of all of them', async () => {
    let error: Error | undefined = problem(429);
    const texts = { a: 'theirs' };
    const { platform } = platformWith(texts, () => error);
    const sent = { changes: [text('a', 'mine')], expected: [text('a', 'old')] };
    await expect(writeTexts(platform, sent, unsettled)).rejects.toBe(error);
    expect(unsettled.uncertain.size).toBe(0);
    error = undefined;
    expect((await writeTexts(platform, sent, unsettled)).overtaken).toHaveLength(1);
  });

  it('of which there was no response are written over by what comes later, and sent again as they were', async () => {
    let error: Error | undefined = new TypeError('Failed to fetch');
    const texts = { a: 'old' };
    const { platform } = platformWith(texts, () => error);
    const sent = { changes: [text('a', 'mine')], expected: [text('a', 'old')] };
    await expect(writeTexts(platform, sent, unsettled)).rejects.toBe(error);
    error = undefined;
    texts.a = 'theirs';
    const later = { changes: [text('a', 'newer')], expected: [text('a', 'old')] };
    // Then it is known that others wrote.
    const known = structuredClone(unsettled);
    expect((await writeTexts(platform, sent, known)).overtaken).toHaveLength(1);
    expect((await writeTexts(platform, later, known)).overtaken).toHaveLength(1);
    expect((await writeTexts(platform, later, unsettled)).written).toHaveLength(1);
    expect([texts.a, unsettled.uncertain.size]).toEqual(['newer', 0]);
  });

  it('that were refused are no reason to refuse the next ones', async () => {
    const texts = { a: 'old' };
    const { platform } = platformWith(texts);
    await writeTexts(platform, { changes: [text('a', 'refused')], expected: [text('a', 'old')] }, unsettled);
    const next = { changes: [text('a', 'better')], expected: [text('a', 'refused')] };
    expect((await writeTexts(platform, next, unsettled)).written).toHaveLength(1);
    expect(texts.a).toBe('better');
  });

  it('that were refused as a whole are no conflict of what was written upon them', async () => {
    let error: Error | undefined = problem(429);
    const texts: Record<string, string> = { a: 'old', b: 'old' };
    const { platform } = platformWith(texts, () => error);
    const first = {
      changes: [text('a', 'one'), text('b', null), text('new', 'one')],
      expected: [text('a', 'old'), text('b', 'old'), text('new', null)],
    };
    await expect(writeTexts(platform, first, unsettled)).rejects.toBe(error);
    const second = {
      changes: [text('a', 'two'), text('b', 'two'), text('new', 'two')],
      expected: first.changes,
    };
    await expect(writeTexts(platform, second, unsettled)).rejects.toBe(error);
    error = undefined;
    // A list that was read does not change what an editor still shows.
    expect(settleText(unsettled, text('a', 'old'))).toBe(false);
    texts.b = 'theirs';
    // Again, and over what the first one had put there for a while.
    const { written, overtaken } = await writeTexts(platform, second, unsettled);
    expect([written, overtaken].map((all) => all.map(({ key }) => key))).toEqual([['a', 'new'], ['b']]);
    expect(texts).toEqual({ a: 'two', b: 'theirs', new: 'two' });
  });

  it('that were refused are written over nothing that others wrote', async () => {
    const texts = { a: 'old' };
    const { platform } = platformWith(texts);
    await writeTexts(platform, { changes: [text('a', 'refused')], expected: [text('a', 'old')] }, unsettled);
    texts.a = 'theirs';
    const next = { changes: [text('a', 'better')], expected: [text('a', 'refused')] };
    expect((await writeTexts(platform, next, unsettled)).overtaken).toHaveLength(1);
  });

  it.each(['written', null])('of which an earlier attempt is under way are uncertain: %s', async (value) => {
    const underWay = problem(409);
    const { platform } = platformWith({ a: 'old' }, () => underWay);
    const sent = { changes: [text('a', value)], expected: [text('a', 'old')] };
    await expect(writeTexts(platform, sent, unsettled)).rejects.toBe(underWay);
    expect([...unsettled.uncertain.values()]).toEqual([value]);
    expect(settleText(unsettled, text('a', 'theirs'))).toBe(false);
    expect(unsettled).toEqual(settledTexts());
  });

  it('that are read are known to be those that got no response', async () => {
    const error = new TypeError('Failed to fetch');
    const { platform } = platformWith({ a: 'old' }, () => error);
    const sent = { changes: [text('a', 'mine')], expected: [text('a', 'old')] };
    await expect(writeTexts(platform, sent, unsettled)).rejects.toBe(error);
    expect(settleText(unsettled, text('a', 'mine'))).toBe(true);
    expect(unsettled).toEqual(settledTexts());
  });
});
