import type { Close } from '@plinth/runtime/process/lifecycle';
import { startApprovalTimers } from './app/approval-timers';
import { startVerifications } from './app/verifications';
import type { Deps } from './compose';

/** Starts what runs beside the requests. */
export async function startBackground(deps: Deps, onClose: (close: Close) => void): Promise<void> {
  onClose(await deps.consume());
  const { config, log } = deps;
  onClose(startApprovalTimers(deps, config.WORKFLOW_SWEEP_SECONDS, log));
  onClose(startVerifications(deps, config.WORKFLOW_SWEEP_SECONDS, log));
}
