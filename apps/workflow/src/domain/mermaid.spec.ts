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
