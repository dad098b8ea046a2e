import { ActivityFailure, RetryState } from '@temporalio/common';
import { Problem, unavailable } from '@plinth/kernel/problem';
import { InterruptedReading } from '../formats/interrupted-reading';
import { countedAttempt, crashesOf, failureOf, isForOthers, processesEnded } from './job-failure';
import { endedItsProcesses, reasonOf } from './workflows/reason';

describe('an attempt of a job that failed', () => {
  it.each<[string, Problem | undefined, number[], boolean]>([
    ['while a service is away, however often', unavailable('away'), [1, 5, 1_000], true],
    ['as its reader was killed', new InterruptedReading(), [1, 4], true],
    ['as its reader was killed again and again', new InterruptedReading(), [5, 6], false],
    ['by a bug', undefined, [1, 4], true],
    ['by a bug again and again', undefined, [5, 6], false],
    ['for what stays so', new Problem('forbidden', 'no'), [1], false],
  ])('%s', (_how, problem, attempts, isRetried) => {
    expect(attempts.map((attempt) => failureOf(problem, attempt).nonRetryable)).toEqual(
      attempts.map(() => !isRetried),
    );
  });

  it('counts only where it did not fail for what others do, and did not end with its process', () => {
    expect([unavailable('away'), new InterruptedReading(), undefined].map(isForOthers)).toEqual([
      true,
      false,
      false,
    ]);
    expect(countedAttempt({ attempt: 9, heartbeatDetails: { forOthers: 4, ended: 6 } })).toBe(3);
  });

  it('is told from one that ended with its process', () => {
    expect(crashesOf({ attempt: 1, heartbeatDetails: undefined })).toBe(0);
    expect(crashesOf({ attempt: 9, heartbeatDetails: { forOthers: 4, ended: 6 } })).toBe(2);
  });

  it.each([undefined, null, { forOthers: 4 }])(
    'by a version before says nothing of those that follow, as it left %j',
    (heartbeatDetails) => {
      const afterAnHour = { attempt: 361, heartbeatDetails };
      expect([crashesOf(afterAnHour), countedAttempt(afterAnHour)]).toEqual([0, 1]);
    },
  );

  it('says why to the person who waits for the job', () => {
    expect(failureOf(new InterruptedReading(), 5)).toMatchObject({
      type: 'Problem',
      message: 'The workbook could not be read to its end just now; try again.',
    });
  });

  it('says whether the job was given up, as its processes ended each time, and gives it that reason', () => {
    const ofActivity = (cause: Error) =>
      new ActivityFailure(undefined, 'importRange', '1', RetryState.NON_RETRYABLE_FAILURE, undefined, cause);
    const givenUp = ofActivity(processesEnded('importRange'));
    expect(endedItsProcesses(givenUp)).toBe(true);
    expect(reasonOf(givenUp)).toContain('ended or stood still 10 times');
    for (const other of [ofActivity(failureOf(undefined, 5)), new Error('a bug')])
      expect(endedItsProcesses(other)).toBe(false);
  });
});
