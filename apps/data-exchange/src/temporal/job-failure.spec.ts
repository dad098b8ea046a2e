import { Problem, unavailable } from '@plinth/kernel/problem';
import { InterruptedReading } from '../formats/interrupted-reading';
import { failureOf } from './job-failure';

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

  it('says why to the person who waits for the job', () => {
    expect(failureOf(new InterruptedReading(), 5)).toMatchObject({
      type: 'Problem',
      message: 'The workbook could not be read to its end just now; try again.',
    });
  });
});
