import { proxyActivities } from '@temporalio/workflow';

const { work } = proxyActivities<{ work: () => Promise<string> }>({
  startToCloseTimeout: '1 second',
  retry: { initialInterval: '100 milliseconds' },
});

/** Has one activity do its work. */
export const calling = (): Promise<string> => work();
