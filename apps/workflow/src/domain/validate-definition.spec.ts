import { randomUUID } from 'node:crypto';
import { permissions } from '@plinth/contracts/permissions';
import { SaveWorkflowDefinitionRequest } from '@plinth/contracts/workflow/shapes';
import { builtInDefinitions } from './definitions/built-in';
import { toDefinition } from './definition';
import { findDefinitionErrors } from './validate-definition';

const errorsIn = (request: object): string[] => {
  const parsed = SaveWorkflowDefinitionRequest.parse(request);
  const options = { finalStatesGiven: parsed.finalStates != null, knownPermissions: permissions };
  return findDefinitionErrors(toDefinition('Thing', parsed), options).map(
    ({ path, message }) => `${path}: ${message}`,
  );
};

const go = { name: 'Go', from: 'A', to: 'B' };

describe('a workflow definition', () => {
  it('may leave out its states and final states', () => {
    const request = SaveWorkflowDefinitionRequest.parse({ initialState: 'A', transitions: [go] });
    expect(toDefinition('Thing', request)).toMatchObject({ states: ['A', 'B'], finalStates: ['B'] });
    expect(errorsIn({ initialState: 'A', transitions: [go] })).toEqual([]);
  });

  it('may have a cycle without a final state', () => {
    expect(errorsIn({ initialState: 'A', transitions: [go, { name: 'Back', from: 'B', to: 'A' }] })).toEqual(
      [],
    );
  });

  it('has as many transitions as a request may name, and no more bytes than each decision can read', () => {
    const states = Array.from({ length: 100 }, (_, index) => `S${index}`);
    const transitions = Array.from({ length: 1_000 }, (_, index) => ({
      name: 'Go',
      from: states[index % 100],
      to: states[(index + 1 + Math.floor(index / 100)) % 100],
    }));
    const users = Array.from({ length: 100 }, (_, index) => `user-${index}`);
    expect(errorsIn({ initialState: 'S0', transitions })).toEqual([]);
    // Nothing else is looked for in one that is too large.
    const approved = [...transitions, { ...go, to: 'Elsewhere' }].map((one) => ({
      ...one,
      requiresApproval: true,
      approvers: { users },
    }));
    expect(errorsIn({ initialState: 'S0', transitions: approved.slice(1) })).toEqual([
      expect.stringMatching(/^transitions: The definition has \d+ bytes as JSON; 262144 are allowed\.$/),
    ]);
  });

  it('names no more users in a transition than each of hundreds of requests can keep', () => {
    const users = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'é'));
    const errorsWith = (approving: string[], escalated: string[]) =>
      errorsIn({
        initialState: 'A',
        transitions: [
          {
            ...go,
            requiresApproval: true,
            approvers: { users: approving },
            timers: { escalateAfterSeconds: 60, escalateTo: { users: escalated } },
          },
        ],
      });
    // As many as a list may have, of the usual length.
    const usual = Array.from({ length: 100 }, () => randomUUID());
    expect(errorsWith(usual, usual)).toEqual([]);
    const named = (bytes: number) =>
      `"Go" names users with ${bytes} bytes; 8192 are allowed, with those it escalates to.`;
    expect(errorsWith(users(50, 100), usual)).toEqual([
      expect.stringContaining(`transitions[0].approvers.users: ${named(13_510)}`),
    ]);
    expect(errorsWith(usual, users(50, 100))).toEqual([
      expect.stringContaining(`transitions[0].timers.escalateTo.users: ${named(13_510)}`),
    ]);
  });

  it.each([
    [
      'a state that cannot be reached',
      { initialState: 'A', states: ['A', 'B', 'C'], transitions: [go] },
      ['states[2]: The state "C" cannot be reached from "A".'],
    ],
    [
      'a dead end',
      {
        initialState: 'A',
        finalStates: ['C'],
        transitions: [go, { name: 'End', from: 'A', to: 'C' }],
      },
      ['states[1]: The state "B" is a dead end and not a final state.'],
    ],
    [
      'a circle without a way to the end',
      {
        initialState: 'A',
        finalStates: ['D'],
        transitions: [
          go,
          { name: 'On', from: 'B', to: 'C' },
          { name: 'Back', from: 'C', to: 'B' },
          { name: 'End', from: 'A', to: 'D' },
        ],
      },
      [
        'states[1]: No final state can be reached from "B".',
        'states[2]: No final state can be reached from "C".',
      ],
    ],
    [
      'permissions that do not exist',
      {
        initialState: 'A',
        transitions: [
          {
            ...go,
            permission: 'Things.Things.Go',
            requiresApproval: true,
            approvers: { permission: 'Templating.Templates.Publsih' },
          },
        ],
      },
      [
        'transitions[0].permission: "Go" needs the permission "Things.Things.Go", which does not exist.',
        'transitions[0].approvers.permission: "Go" needs the permission "Templating.Templates.Publsih", which does not exist.',
      ],
    ],
    [
      'states that are not there',
      { initialState: 'X', states: ['A', 'B'], finalStates: ['Z'], transitions: [{ ...go, to: 'Y' }] },
      [
        'initialState: The initial state "X" is not a state.',
        'finalStates[0]: The final state "Z" is not a state.',
        'transitions[0].to: "Go" leads to "Y", which is not a state.',
        'states[0]: The state "A" cannot be reached from "X".',
        'states[0]: No final state can be reached from "A".',
        'states[1]: The state "B" cannot be reached from "X".',
        'states[1]: The state "B" is a dead end and not a final state.',
      ],
    ],
    [
      'two transitions between the same states, and a state that is there twice',
      { initialState: 'A', states: ['A', 'B', 'A'], transitions: [go, { ...go, name: 'Run' }] },
      [
        'states[2]: The state "A" is there twice.',
        'transitions[1]: There are two transitions from "A" to "B"; "Run" is the second.',
      ],
    ],
    [
      'a state of the name that waiting has',
      { initialState: 'A', transitions: [{ ...go, to: 'PendingApproval' }] },
      ['states[1]: "PendingApproval" is where entities wait for a decision.'],
    ],
    [
      'approvers who can never agree',
      {
        initialState: 'A',
        transitions: [
          { ...go, requiresApproval: true, approvers: { users: ['ann'], mode: 'Count', count: 2 } },
          { ...go, from: 'B', to: 'A', requiresApproval: true, approvers: { mode: 'All' } },
        ],
      },
      [
        'transitions[0].approvers: "Go" can never be approved: 2 must agree and 1 are named.',
        'transitions[1].approvers: "Go" can never be approved: all of those who hold a permission cannot be counted; name users.',
      ],
    ],
    [
      'times that make no sense',
      {
        initialState: 'A',
        transitions: [
          {
            ...go,
            requiresApproval: true,
            timers: { remindAfterSeconds: 60, escalateAfterSeconds: 30, expireAfterSeconds: 60 },
          },
        ],
      },
      [
        'transitions[0].timers: "Go": escalateTo names nobody.',
        'transitions[0].timers: "Go": the reminder comes after the end.',
      ],
    ],
  ])('is refused with %s', (_description, request, errors) => {
    expect(errorsIn(request)).toEqual(errors);
  });

  it.each([...builtInDefinitions.values()])('that is built in is valid: $entityType', (definition) => {
    expect(
      findDefinitionErrors(definition, { finalStatesGiven: true, knownPermissions: permissions }),
    ).toEqual([]);
  });
});
