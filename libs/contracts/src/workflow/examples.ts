const definition = {
  entityType: 'Invoice',
  initialState: 'Draft',
  states: ['Draft', 'Submitted', 'Paid'],
  finalStates: ['Paid'],
  transitions: [
    { name: 'Submit', from: 'Draft', to: 'Submitted' },
    {
      name: 'Pay',
      from: 'Submitted',
      to: 'Paid',
      requiresApproval: true,
      approvers: { users: ['charles', 'grace'], mode: 'Any' },
      timers: { remindAfterSeconds: 86_400, expireAfterSeconds: 604_800 },
    },
  ],
};

const [submit, pay] = definition.transitions;

const savedDefinition = {
  ...definition,
  version: 3,
  scope: 'Tenant',
  transitions: [
    { ...submit, permission: null, requiresApproval: false, approvers: null, timers: null },
    {
      ...pay,
      permission: null,
      approvers: { permission: null, users: ['charles', 'grace'], mode: 'Any', count: null },
      timers: {
        remindAfterSeconds: 86_400,
        escalateAfterSeconds: null,
        escalateTo: null,
        expireAfterSeconds: 604_800,
      },
    },
  ],
  savedAt: '2026-11-21T12:00:00.000Z',
  savedBy: 'ada',
};

const delegation = {
  delegateId: 'grace',
  from: '2026-12-21T00:00:00.000Z',
  until: '2027-01-04T00:00:00.000Z',
};

/** Examples of the shapes of workflow, by the names of the shapes. */
export const workflowExamples: Record<string, unknown> = {
  TransitionDto: {
    targetState: 'Submitted',
    name: 'Submit',
    allowed: true,
    requiresApproval: false,
    reasons: [],
  },
  TransitionRequestDto: { targetState: 'Submitted', comment: 'Checked against the ledger.' },
  TransitionResultDto: { succeeded: true, resultingState: 'Submitted', outcome: 'Completed' },
  TransitionHistoryDto: {
    previousState: 'Draft',
    newState: 'Submitted',
    transitionedAt: '2026-11-21T12:00:00.000Z',
    transitionedBy: 'ada',
    comment: 'Checked against the ledger.',
  },
  WorkflowStatusDto: {
    currentState: 'Draft',
    availableTransitions: [
      { targetState: 'Submitted', name: 'Submit', allowed: true, requiresApproval: false, reasons: [] },
    ],
  },
  BatchTransitionItem: { entityType: 'Invoice', entityId: '4711', targetState: 'Submitted' },
  SaveWorkflowDefinitionRequest: definition,
  WorkflowDefinition: savedDefinition,
  WorkflowDefinitionValidation: {
    isSound: false,
    errors: [
      {
        path: 'transitions[1].to',
        rule: 'Enum',
        message: '"Pay" leads to "Paid", which is not a state.',
      },
    ],
  },
  WorkflowApproval: {
    id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
    entityType: 'Invoice',
    entityId: '4711',
    transitionName: 'Pay',
    formerState: 'Submitted',
    targetState: 'Paid',
    requestedBy: 'ada',
    requestedByName: 'Ada Lovelace',
    requestedAt: '2026-11-21T12:00:00.000Z',
    comment: 'Due tomorrow.',
    approvalsNeeded: 1,
    approvalsGiven: 0,
    onBehalfOf: null,
    isEscalated: false,
    expiresAt: '2026-11-28T12:00:00.000Z',
  },
  CreateWorkflowDelegationRequest: delegation,
  WorkflowDelegation: {
    id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
    delegatorId: 'charles',
    delegatorName: 'Charles Babbage',
    ...delegation,
    createdAt: '2026-11-21T12:00:00.000Z',
  },
};
