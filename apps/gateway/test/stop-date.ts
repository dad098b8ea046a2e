import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but-intervals';
import { onCloseAll } from './start-gateway';

/** Stops the date until the end of the test, which may set it; timers and the network go on as ever. */
export function stopDate(): void {
  const timers = ALL_BUT_INTERVALS.filter((name) => name !== 'Date');
  jest.useFakeTimers({ doNotFake: [...timers, 'setInterval', 'clearInterval'] });
  onCloseAll(() => jest.useRealTimers());
}
