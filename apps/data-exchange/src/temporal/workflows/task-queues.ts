const SHORT = '-short';

/** Short activities have a queue of their own, so that they never wait for long ones. */
export const shortQueueOf = (taskQueue: string): string => taskQueue + SHORT;

export const isShortQueue = (taskQueue: string): boolean => taskQueue.endsWith(SHORT);
