import type { Transition } from '../domain/definition';

/** A transition of a built-in definition; what is not said is free and needs no approval. */
export const transition = (
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
