import { allBut } from '@plinth/testing/all-but';
import { onCloseAll } from './start-gateway';

/** Stops the date until the end of the test, which may set it; timers and the network go on as ever. */
export function stopDate(): void {
  jest.useFakeTimers({ doNotFake: allBut('Date') });
  onCloseAll(() => jest.useRealTimers());
}
