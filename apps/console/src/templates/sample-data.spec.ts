import { completed, sampleOf, shapeOf } from './sample-data';

const shape = shapeOf([
  { name: 'customer.name', type: 'string' },
  { name: 'customer.since', type: 'date' },
  { name: 'lines[].price', type: 'number' },
  { name: 'lines[].tags', type: 'array' },
  { name: 'matrix[][].x', type: 'number' },
  { name: 'isPaid', type: 'boolean' },
]);

describe('sample data', () => {
  it('is made from the variables of a template', () => {
    const line = { price: 12, tags: ['tags', 'tags'] };
    expect(sampleOf(shape)).toEqual({
      customer: { name: 'name', since: '2026-11-21' },
      lines: [line, line],
      matrix: [
        [{ x: 12 }, { x: 12 }],
        [{ x: 12 }, { x: 12 }],
      ],
      isPaid: true,
    });
  });

  it('keeps what somebody wrote, and adds what the template reads besides', () => {
    const data = { customer: { name: 'Ada', nickname: 'A' }, lines: [], matrix: 'none', isPaid: null };
    expect(completed(data, shape)).toEqual({
      customer: { name: 'Ada', nickname: 'A', since: '2026-11-21' },
      lines: [],
      matrix: 'none',
      isPaid: null,
    });
  });
});
