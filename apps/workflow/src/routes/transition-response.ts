import type { Option } from '../domain/transition';
import type { OperationResult } from '../store/entity-store';

export const toTransitionResponse = ({ targetState, name, requiresApproval, reasons, effect }: Option) => ({
  targetState,
  name,
  allowed: effect !== undefined,
  requiresApproval,
  reasons,
});

export const toResultResponse = ({ outcome, resultingState }: OperationResult) => ({
  succeeded: outcome === 'Completed' || outcome === 'ApprovalRequested',
  resultingState,
  outcome,
});
