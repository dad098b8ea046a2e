/** One request as a client saw it: when it was sent and answered, and what it was told. */
export interface Observation {
  entityId: string;
  client: string;
  targetState: string;
  sentAt: number;
  answeredAt: number;
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
 * and no loser may have been told what was never true while it waited. Answers what is wrong.
 *
 * The general problem is exponential; here the history itself is the order, so that it is checked in one pass.
 */
export function faultsOf(
  initialState: string,
  steps: readonly Step[],
  observations: readonly Observation[],
  canMove: (from: string, to: string) => boolean,
): string[] {
  const faults: string[] = [];
  const wins = observations.filter(({ outcome }) => outcome === 'Completed');
  const byKey = new Map(wins.map((win) => [keyOf(win.client, win.targetState), win]));
  if (steps.length !== wins.length) faults.push(`${steps.length} steps, ${wins.length} wins`);

  let state = initialState;
  let latestSend = 0;
  const order: Observation[] = [];
  for (const step of steps) {
    if (step.previousState !== state || !canMove(step.previousState, step.newState))
      faults.push(`${step.previousState} to ${step.newState} does not follow ${state}`);
    state = step.newState;
    const win = byKey.get(keyOf(step.comment ?? '', step.newState));
    if (!win) faults.push(`nobody was told of ${step.previousState} to ${step.newState}`);
    else {
      // A request that was answered before an earlier step was even asked for cannot come after it.
      if (win.answeredAt < latestSend) faults.push(`${win.client} won out of turn`);
      latestSend = Math.max(latestSend, win.sentAt);
      order.push(win);
    }
  }
  for (const loser of observations.filter(({ outcome }) => outcome !== 'Completed')) {
    if (loser.outcome !== 'InvalidTransition') faults.push(`${loser.client} was told ${loser.outcome}`);
    else if (!couldHaveLost(loser, initialState, order, canMove))
      faults.push(`${loser.client} lost without a winner`);
  }
  return faults;
}

/** Whether, at some moment while it waited, the entity stood where it could not go on, or another one won. */
function couldHaveLost(
  loser: Observation,
  initialState: string,
  order: readonly Observation[],
  canMove: (from: string, to: string) => boolean,
): boolean {
  const overlaps = order.some((win) => win.answeredAt >= loser.sentAt && win.sentAt <= loser.answeredAt);
  if (overlaps) return true;
  const before = order.filter((win) => win.answeredAt < loser.sentAt).at(-1);
  return !canMove(before?.targetState ?? initialState, loser.targetState);
}

const keyOf = (client: string, targetState: string): string => `${client} ${targetState}`;
