import type { Transition } from '../definition';

/** A transition of a built-in definition; without `rest` it needs no permission and no approval. */
export const builtInTransition = (
  name: string,
  from: string,
  to: string,
  rest: Partial<Omit<Transition, 'name' | 'from' | 'to'>> = {},
): Transition => ({
  name,
  from,
  to,
  permission: null,
  requiresApproval: false,
  approvers: null,
  timers: null,
  ...rest,
});
