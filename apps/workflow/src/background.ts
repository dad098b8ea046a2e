import type { Close } from '@plinth/runtime/process/lifecycle';
import { startApprovalTimers } from './app/approval-timers';
import type { Deps } from './compose';

/** Starts what runs beside the requests. */
export async function startBackground(deps: Deps, onClose: (close: Close) => void): Promise<void> {
  onClose(await deps.consume());
  onClose(startApprovalTimers(deps, deps.config.WORKFLOW_SWEEP_SECONDS, deps.log));
}
