import {
  addState,
  connect,
  emptyDraft,
  partOf,
  removeState,
  renameState,
  stepsAfter,
} from './definition-draft';

const drawn = connect(addState(addState(emptyDraft('Open'), 'Done'), 'Done'), 'Open', 'Done', 'Finish');

describe('a definition that is drawn', () => {
  it('gives new states names of their own', () => {
    expect(drawn.states).toEqual(['Open', 'Done', 'Done 2']);
  });

  it('connects two states once, and what is left is no end any more', () => {
    expect(drawn.transitions).toMatchObject([{ name: 'Finish', from: 'Open', to: 'Done' }]);
    expect(drawn.finalStates).toEqual([]);
    expect(connect(drawn, 'Open', 'Done', 'Again')).toBe(drawn);
    expect(connect(drawn, 'Open', 'Done 2', 'Finish').transitions[1]).toMatchObject({ name: 'Finish 2' });
  });

  it('renames a state wherever it is named', () => {
    const renamed = renameState(drawn, 'Open', 'New');
    expect(renamed).toMatchObject({ initialState: 'New', states: ['New', 'Done', 'Done 2'] });
    expect(renamed.transitions[0]).toMatchObject({ from: 'New', to: 'Done' });
  });

  it('takes the transitions of a state away with it', () => {
    expect(removeState(drawn, 'Done')).toMatchObject({ states: ['Open', 'Done 2'], transitions: [] });
  });

  it('finds the part of the picture that an error is about', () => {
    expect(partOf('transitions[0].to', drawn)).toEqual({ kind: 'transition', index: 0 });
    expect(partOf('states[2]', drawn)).toEqual({ kind: 'state', index: 2 });
    expect(partOf('initialState', drawn)).toBeUndefined();
  });

  it('has steps to undo after it was saved: those that were drawn meanwhile', () => {
    const [first, second, third] = ['A', 'B', 'C'].map((name) => addState(drawn, name)) as [
      typeof drawn,
      typeof drawn,
      typeof drawn,
    ];
    expect(stepsAfter(second, [first, second])).toEqual([second]);
    expect(stepsAfter(second, [first, second, third])).toEqual([second, third]);
    // Undone while it was saved.
    expect(stepsAfter(second, [first])).toEqual([second, first]);
  });
});
