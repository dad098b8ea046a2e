import { countTests } from '../test-targets.mjs';

const report = (numPassedTests: number, numFailedTests = 0, numPendingTests = 0) => ({
  numPassedTests,
  numFailedTests,
  numPendingTests,
  numRuntimeErrorTestSuites: 0,
  numTodoTests: 0,
});

const task = (id: string, status: number) => {
  const [projectName = '', target = ''] = id.split(':');
  return { taskId: id, projectName, target, status };
};

describe('the closing line of npm test', () => {
  it('counts the tests of every report, and each other target once', () => {
    const tasks = [
      task('kernel:lint', 0),
      task('http:lint', 0),
      task('kernel:unit', 0),
      task('http:test', 1),
    ];
    const reports: Record<string, ReturnType<typeof report>> = {
      'kernel.unit': report(3),
      'http.test': report(2, 1, 4),
    };
    expect(countTests(tasks, (name) => reports[name])).toEqual({ passed: 6, failed: 1, skipped: 4 });
  });

  it('counts a target that failed without a failed test as one failure', () => {
    const tasks = [
      task('kernel:lint', 1),
      task('http:lint', 0),
      task('kernel:unit', 1),
      task('http:test', 1),
    ];
    const reports: Record<string, ReturnType<typeof report>> = { 'http.test': report(2) };
    expect(countTests(tasks, (name) => reports[name])).toEqual({ passed: 2, failed: 3, skipped: 0 });
  });
});
