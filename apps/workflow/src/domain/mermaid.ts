import type { Definition } from './definition';

/** The picture of a definition as a Mermaid state diagram. */
export function toMermaid(definition: Definition): string {
  const { states, initialState, finalStates, transitions } = definition;
  const ids = new Map(states.map((state, index) => [state, `s${index}`]));
  const idOf = (state: string): string => ids.get(state)!;
  const lines = [
    'stateDiagram-v2',
    ...states.map((state) => `  state "${escapeLabel(state)}" as ${idOf(state)}`),
    `  [*] --> ${idOf(initialState)}`,
    ...transitions.map(({ from, to, name, requiresApproval }) => {
      const label = `${escapeLabel(name)}${requiresApproval ? ' (approval)' : ''}`;
      return `  ${idOf(from)} --> ${idOf(to)} : ${label}`;
    }),
    ...finalStates.map((state) => `  ${idOf(state)} --> [*]`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Everything that could be syntax is written as its code point, which Mermaid shows as the character. */
const escapeLabel = (text: string): string =>
  text.replace(/[^\p{L}\p{N} ._-]/gu, (character) => `#${character.codePointAt(0)};`);
