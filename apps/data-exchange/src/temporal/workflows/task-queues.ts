/** Short activities have a queue of their own, so that they never wait for long ones. */
export const shortQueueOf = (taskQueue: string): string => `${taskQueue}-short`;
