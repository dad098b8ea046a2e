/** One request as its client observed it. */
export interface ObservedRequest {
  entityId: string;
  client: string;
  targetState: string;
  sentAt: number;
  respondedAt: number;
  outcome: string;
  resultingState: string;
}

export interface Step {
  previousState: string;
  newState: string;
  transitionedBy: string;
  comment: string | null;
}

/**
 * Checks one entity: its history must be the sequence of exactly the winning requests, in an order that time allows,
 * and each losing request must have been impossible at some moment while it ran. Returns what is wrong.
 *
 * The general problem is exponential; here the history itself is the order, so that it is checked in one pass.
 */
export function findViolations(
  initialState: string,
  steps: readonly Step[],
  observations: readonly ObservedRequest[],
  canMove: (from: string, to: string) => boolean,
): string[] {
  const violations: string[] = [];
  const wins = observations.filter(({ outcome }) => outcome === 'Completed');
  const byKey = new Map(wins.map((win) => [keyOf(win.client, win.targetState), win]));
  if (steps.length !== wins.length) violations.push(`${steps.length} steps, ${wins.length} wins`);

  let state = initialState;
  let latestSend = 0;
  const order: ObservedRequest[] = [];
  for (const step of steps) {
    if (step.previousState !== state || !canMove(step.previousState, step.newState))
      violations.push(`${step.previousState} to ${step.newState} does not follow ${state}`);
    state = step.newState;
    const win = byKey.get(keyOf(step.comment ?? '', step.newState));
    if (!win) violations.push(`no request won ${step.previousState} to ${step.newState}`);
    else {
      // A request that ended before an earlier step was even requested cannot come after it.
      if (win.respondedAt < latestSend) violations.push(`${win.client} won out of turn`);
      latestSend = Math.max(latestSend, win.sentAt);
      order.push(win);
    }
  }
  for (const loser of observations.filter(({ outcome }) => outcome !== 'Completed')) {
    if (loser.outcome !== 'InvalidTransition') violations.push(`${loser.client} got ${loser.outcome}`);
    else if (!couldHaveLost(loser, initialState, order, canMove))
      violations.push(`${loser.client} lost without a winner`);
  }
  return violations;
}

/** Whether, at some moment while it ran, its move was impossible or another request won. */
function couldHaveLost(
  loser: ObservedRequest,
  initialState: string,
  order: readonly ObservedRequest[],
  canMove: (from: string, to: string) => boolean,
): boolean {
  const overlaps = order.some((win) => win.respondedAt >= loser.sentAt && win.sentAt <= loser.respondedAt);
  if (overlaps) return true;
  const before = order.filter((win) => win.respondedAt < loser.sentAt).at(-1);
  return !canMove(before?.targetState ?? initialState, loser.targetState);
}

const keyOf = (client: string, targetState: string): string => `${client} ${targetState}`;
