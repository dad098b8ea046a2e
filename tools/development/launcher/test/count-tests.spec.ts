import { countTests, describeCrashes, describeFailures, tasksOf } from '../test-targets.mjs';

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

  it('counts nothing of targets that only say which one begins first', () => {
    const results = [{ tasks: [task('e2e:test', 1), task('workspace:longest', 1)] }, { tasks: undefined }];
    expect(tasksOf(results)).toEqual([task('e2e:test', 1)]);
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

describe('what npm test says of failures before its closing line', () => {
  const failed = (message: string) => ({
    ...report(2, 1),
    testResults: [
      { name: '/apps/shop/test/fast.spec.ts', status: 'passed', message: '' },
      { name: '/apps/shop/test/slow.spec.ts', status: 'failed', message },
    ],
  });

  it('names the files with what jest said of them, and the targets without a test', () => {
    const tasks = [task('shop:test', 1), task('shop:lint', 1), task('other:lint', 0)];
    const reports: Record<string, ReturnType<typeof failed>> = { 'shop.test': failed('Expected: 1') };
    expect(describeFailures(tasks, (name) => reports[name])).toEqual([
      'FAIL shop:test /apps/shop/test/slow.spec.ts\nExpected: 1',
      'FAIL shop:lint',
    ]);
  });

  it('shortens what is long', () => {
    const [text] = describeFailures([task('shop:test', 1)], () => failed('line\n'.repeat(100)));
    expect(text!.split('\n')).toHaveLength(42);
    expect(text).toMatch(/61 more lines/);
  });

  it('names programs that end without results, or other than by a task', () => {
    const results = [
      { name: 'generate', code: 1, tasks: [] },
      { name: 'nx graph', code: 0, tasks: [] },
      { name: 'nx run-many passed', code: 0, tasks: [task('shop:test', 0)] },
      { name: 'nx run-many failed', code: 1, tasks: [task('shop:test', 1), task('other:test', 0)] },
      { name: 'nx run-many crashed', code: 7, tasks: [task('shop:test', 0)] },
      { name: 'nx run-many silent', code: 0, tasks: undefined },
      { name: 'nx run-many killed', code: null, tasks: undefined },
    ];
    expect(describeCrashes(results)).toEqual([
      'FAIL generate: exit code 1',
      'FAIL nx run-many crashed: exit code 7',
      'FAIL nx run-many silent: exit code 0, and no results of its tasks',
      'FAIL nx run-many killed: ended by a signal, and no results of its tasks',
    ]);
  });
});
