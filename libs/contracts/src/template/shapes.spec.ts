import { parseInput } from '@plinth/kernel/validation';
import { TemplatePreviewRequest } from './shapes';

describe('the data of a rendering', () => {
  it('is any object, none of whose members is looked at', () => {
    const data = new Proxy(
      { total: 1 },
      {
        ownKeys() {
          throw new Error('Its members were looked at.');
        },
      },
    );
    expect(parseInput(TemplatePreviewRequest, { data }, 'body')).toEqual({ data });
    expect(parseInput(TemplatePreviewRequest, { data: null }, 'body')).toEqual({ data: null });
  });

  it.each([[[]], ['text'], [1]])('is malformed where it is none: %j', (data) => {
    expect(() => parseInput(TemplatePreviewRequest, { data }, 'body')).toThrow(
      'data: must be of type record.',
    );
  });
});
