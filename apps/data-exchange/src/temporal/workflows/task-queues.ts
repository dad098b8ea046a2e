const SHORT = '-short';

/** Short activities have a queue of their own, so that they never wait for long ones. */
export const shortQueueOf = (taskQueue: string): string => taskQueue + SHORT;

/** The type of the failure of a short activity that must go on as a long one. */
export const TOO_LONG = 'TooLong';

export const isShortQueue = (taskQueue: string): boolean => taskQueue.endsWith(SHORT);
