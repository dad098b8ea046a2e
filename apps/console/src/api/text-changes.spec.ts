import { withChanges, withoutLater, type TextChange } from './text-changes';

const text = (key: string, value: string | null, cultureName = 'en'): TextChange => ({
  resourceName: 'Shop',
  key,
  cultureName,
  value,
});

describe('changes of texts', () => {
  it('leave the last word to what is sent after them, for each text and culture', () => {
    const sent = {
      changes: [text('title', 'One'), text('title', 'Un', 'fr'), text('lead', 'Two')],
      before: [text('title', null), text('lead', 'Before')],
    };
    expect(withoutLater(sent, [text('title', 'Newer'), text('other', 'Three')])).toEqual({
      changes: [text('title', 'Un', 'fr'), text('lead', 'Two')],
      before: [text('lead', 'Before')],
    });
    expect(withoutLater(sent, [])).toEqual(sent);
    expect(withoutLater({ ...sent, expected: sent.changes }, [text('lead', 'Newer')]).expected).toEqual([
      text('title', 'One'),
      text('title', 'Un', 'fr'),
    ]);
  });

  it('are seen in the rows that they are about', () => {
    const cell = { platformValue: 'Title', replacedValue: 'Former title', hasDrifted: true };
    const row = {
      resourceName: 'Shop',
      key: 'title',
      values: ['en', 'fr'].map((cultureName) => ({ ...cell, cultureName, value: 'Own' })),
    };
    expect(withChanges(row, [text('lead', 'Newer'), text('title', 'Own')])).toEqual(row);
    expect(withChanges(row, [text('title', 'First'), text('title', null)]).values).toEqual([
      { cultureName: 'en', value: null, platformValue: 'Title', replacedValue: 'Title', hasDrifted: false },
      row.values[1],
    ]);
  });
});
