import { verdictOf } from './verdict';

describe('the verdict of a check', () => {
  it.each([
    ['good', { succeededRows: 3, failedRows: 0, skippedRows: 0 }, 'continue'],
    ['good', { succeededRows: 3, failedRows: 0, skippedRows: 4 }, 'continue'],
    ['good', { succeededRows: 0, failedRows: 0, skippedRows: 0 }, 'continue'],
    ['warn', { succeededRows: 3, failedRows: 1, skippedRows: 0 }, 'continue'],
    ['bad', { succeededRows: 0, failedRows: 1, skippedRows: 0 }, 'continue'],
    ['bad', { succeededRows: 0, failedRows: 1, skippedRows: 3 }, 'abort'],
    ['skipped', { succeededRows: 0, failedRows: 0, skippedRows: 4 }, 'continue'],
    ['skipped', { succeededRows: 0, failedRows: 1, skippedRows: 3 }, 'continue'],
    ['skipped', { succeededRows: 0, failedRows: 0, skippedRows: 4 }, 'abort'],
  ] as const)('is %s for %j with %s', (verdict, report, onError) => {
    expect(verdictOf(report, onError)).toBe(verdict);
  });
});
