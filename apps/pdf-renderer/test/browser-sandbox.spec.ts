import { createLog } from '@plinth/runtime/process/log';
import { findChromium } from '../src/print/chromium';

/** A browser that never starts, on a host where bubblewrap works or does not. */
const broken = '/usr/bin/false';

function launched(isProduction: boolean) {
  const log = createLog({ LOG_LEVEL: 'silent' }, 'template');
  const warnings: unknown[] = [];
  jest.spyOn(log, 'warn').mockImplementation((...args: unknown[]) => void warnings.push(args));
  const chromium = findChromium({ executable: broken, isProduction }, log)!;
  return { chromium, warnings, launching: chromium.launch() };
}

describe('Chromium, where its own sandbox does not start,', () => {
  it('is not started without it in production', async () => {
    const { launching, warnings } = launched(true);

    await expect(launching).rejects.toThrow();

    expect(JSON.stringify(warnings)).not.toContain('runs without it');
  });

  it('is started without it for development, but only inside bubblewrap', async () => {
    const { chromium, launching, warnings } = launched(false);

    await expect(launching).rejects.toThrow();

    expect(JSON.stringify(warnings).includes('runs without it')).toBe(chromium.isolation === 'sealed');
  });
});
