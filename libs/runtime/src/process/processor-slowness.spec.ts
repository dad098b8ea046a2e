import { timesOfMainThread, watchProcessorSlowness, type ProcessorTimes } from './processor-slowness';

const watch = () => {
  let times: ProcessorTimes = { ran: 1_000, waited: 5_000 };
  let milliseconds = 0;
  const slowness = watchProcessorSlowness(
    () => times,
    () => milliseconds,
  );
  const pass = (passed: number, { ran, waited }: ProcessorTimes): void => {
    milliseconds += passed;
    times = { ran: times.ran + ran, waited: times.waited + waited };
  };
  return { slowness, pass };
};

describe('how slow a process is', () => {
  it('is found from how long it ran and waited since the last look', () => {
    const { slowness, pass } = watch();
    expect(slowness()).toBe(1);
    pass(250, { ran: 100, waited: 300 });
    expect(slowness()).toBe(4);
    pass(250, { ran: 100, waited: 0 });
    expect(slowness()).toBe(1);
  });

  it('stays as it was for a quarter of a second', () => {
    const { slowness, pass } = watch();
    pass(249, { ran: 100, waited: 300 });
    expect(slowness()).toBe(1);
    pass(1, { ran: 100, waited: 300 });
    expect(slowness()).toBe(4);
  });

  it('is ten at most, and one where nothing is known', () => {
    const { slowness, pass } = watch();
    pass(250, { ran: 1, waited: 1_000 });
    expect(slowness()).toBe(10);
    pass(250, { ran: 0, waited: 0 });
    expect(slowness()).toBe(1);
  });

  it('is told of this process, where the system says how long it ran', () => {
    const { ran } = timesOfMainThread();
    expect(ran > 0).toBe(process.platform === 'linux');
  });
});
