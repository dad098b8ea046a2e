/** What ends soon has a queue of its own, so that it never waits for what does not. */
export const shortQueueOf = (taskQueue: string): string => `${taskQueue}-short`;
