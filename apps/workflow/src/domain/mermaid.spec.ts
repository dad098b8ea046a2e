import fc from 'fast-check';
import { builtInTransition } from './definitions/transition';
import { toMermaid } from './mermaid';

it('toMermaid draws a definition and escapes the names in it', () => {
  const picture = toMermaid({
    entityType: 'Thing',
    initialState: 'New one',
    states: ['New one', 'Do"ne"\n[*] --> s0'],
    finalStates: ['Do"ne"\n[*] --> s0'],
    transitions: [
      builtInTransition('Fertig: ja; é', 'New one', 'Do"ne"\n[*] --> s0', { requiresApproval: true }),
    ],
  });

  expect(picture).toBe(
    [
      'stateDiagram-v2',
      '  state "New one" as s0',
      '  state "Do#34;ne#34;#10;#91;#42;#93; --#62; s0" as s1',
      '  [*] --> s0',
      '  s0 --> s1 : Fertig#58; ja#59; é (approval)',
      '  s1 --> [*]',
      '',
    ].join('\n'),
  );
});

it('toMermaid writes each name so that it is read as it was, on the line of its state', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), (states) => {
      const picture = toMermaid({
        entityType: 'Thing',
        initialState: states[0]!,
        states,
        finalStates: [],
        transitions: [],
      });
      const read = [...picture.matchAll(/^  state "([^"]*)" as s\d+$/gm)].map(([, label]) =>
        label!.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))),
      );
      expect(read).toEqual(states);
      expect(picture.split('\n')).toHaveLength(states.length + 3);
    }),
  );
});
