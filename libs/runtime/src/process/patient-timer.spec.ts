import { PatientTimer } from './patient-timer';

describe('a timer of silence', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('calls back once after its time, which begins anew when something comes', () => {
    const callback = jest.fn();
    const timer = new PatientTimer(1_000, callback);
    jest.advanceTimersByTime(999);
    timer.refresh();
    jest.advanceTimersByTime(999);
    expect(callback).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledTimes(1);
    timer.refresh();
    jest.advanceTimersByTime(1_000);
    expect(callback).toHaveBeenCalledTimes(2);
    timer.refresh();
    timer.clear();
    expect(jest.getTimerCount()).toBe(0);
  });
});
