import { watchRate } from './least-rate';

describe('the rate of what arrives', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const aFile = () => {
    const file = { bytes: 0, isHeld: false, isWaitedFor: true, ended: 0 };
    const end = watchRate(
      { bytes: 600, milliseconds: 60_000 },
      {
        bytesArrived: () => file.bytes,
        isHeld: () => file.isHeld,
        isWaitedFor: () => file.isWaitedFor,
      },
      () => file.ended++,
    );
    return { file, end };
  };
  /** Seconds pass, in each of which so many bytes come. */
  const pass = (file: { bytes: number }, seconds: number, bytes: number) => {
    for (let second = 0; second < seconds; second++) {
      file.bytes += bytes;
      jest.advanceTimersByTime(1_000);
    }
  };

  it('has to be so high in each stretch of time', () => {
    const { file } = aFile();
    pass(file, 300, 10);
    expect(file.ended).toBe(0);
    pass(file, 10, 9);
    expect(file.ended).toBe(1);
    pass(file, 300, 0);
    expect(file.ended).toBe(1);
  });

  it('is not made up for by a beginning that was quick', () => {
    const { file } = aFile();
    pass(file, 60, 1_000);
    pass(file, 60, 1);
    expect(file.ended).toBe(1);
  });

  it('may be lower until somebody waits', () => {
    const { file } = aFile();
    file.isWaitedFor = false;
    pass(file, 600, 0);
    expect(file.ended).toBe(0);
    file.isWaitedFor = true;
    pass(file, 10, 0);
    expect(file.ended).toBe(1);
  });

  it('is that of its client, not of the store that holds it back', () => {
    const { file } = aFile();
    file.isHeld = true;
    pass(file, 600, 0);
    file.isHeld = false;
    pass(file, 50, 0);
    expect(file.ended).toBe(0);
    pass(file, 20, 0);
    expect(file.ended).toBe(1);
  });

  it('matters no more once all of it is there', () => {
    const { file, end } = aFile();
    end();
    pass(file, 600, 0);
    expect(file.ended).toBe(0);
  });
});
