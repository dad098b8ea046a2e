import { layoutOf } from './graph-layout';

const states = ['Draft', 'Review', 'Done', 'Alone'];
const transitions = [
  { name: 'Submit', from: 'Draft', to: 'Review' },
  { name: 'Return', from: 'Review', to: 'Draft' },
  { name: 'Approve', from: 'Review', to: 'Done' },
  { name: 'Again', from: 'Done', to: 'Done' },
  { name: 'Nowhere', from: 'Done', to: 'Gone' },
];
const drawing = layoutOf({ states, transitions }, (state) => state);

describe('the picture of a state machine', () => {
  it('has each state at a place of its own', () => {
    const boxes = drawing.states;
    for (const one of boxes)
      for (const other of boxes.filter((box) => box !== one)) {
        const apart =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(apart).toBe(true);
      }
  });

  it('has a line for each transition, there and back apart, and none to where there is nothing', () => {
    const paths = drawing.transitions.map((one) => one?.path);
    expect(paths[4]).toBeUndefined();
    expect(new Set(paths.slice(0, 4)).size).toBe(4);
    expect(drawing.transitions[0]?.label).not.toEqual(drawing.transitions[1]?.label);
  });
});
