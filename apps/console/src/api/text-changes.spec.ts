import { withoutLater, type TextChange } from './text-changes';

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
  });
});
