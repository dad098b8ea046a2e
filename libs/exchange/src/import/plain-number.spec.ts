import { plainNumber } from './plain-number';

describe('a number as the same text however it is written', () => {
  it.each([
    ['1.5', ['1.50', '+1.5', '01.5', '0.15e1', '15E-1', '150e-2']],
    ['-20', ['-20.00', '-2e1', '-020']],
    ['0', ['0.00', '-0', '+0e9', '.0']],
    ['.25', ['0.25', '0.250']],
    ['12345678901234567890.1', ['12345678901234567890.10']],
  ])('%s', (text, others) => {
    expect(others.map(plainNumber)).toEqual(others.map(() => plainNumber(text)));
  });

  it('is another one for another number, and what is no number stays', () => {
    const others = ['1.5', '-1.5', '15', '0', '12345678901234567890.1', '12345678901234567890.2', 'NaN'];
    expect(new Set(others.map(plainNumber)).size).toBe(others.length);
    expect(plainNumber('NaN')).toBe('NaN');
  });
});
