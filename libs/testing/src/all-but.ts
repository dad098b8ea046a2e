const TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

type Timer = (typeof TIMERS)[number];

/** For `doNotFake` of fake timers: a test has these in its hand, and the rest, such as the network, goes on as ever. */
export const allBut = (...faked: readonly Timer[]): Timer[] =>
  TIMERS.filter((timer) => !faked.includes(timer));

export const ALL_BUT_INTERVALS = allBut('setInterval', 'clearInterval');
export const ALL_BUT_TIMEOUTS = allBut('setTimeout', 'clearTimeout');
