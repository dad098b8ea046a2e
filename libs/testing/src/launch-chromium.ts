import { chromium, type Browser } from 'playwright-core';
import { findOrInstall } from './find-or-install';

/**
 * Processes that Chromium starts with each window, for pages of an address bar that nobody sees and for a page that may
 * come next: more than half of the processor time of opening a window.
 */
const PROCESSES_OF_WINDOWS = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
  'AndroidWarmUpSpareRendererWithTimeout',
];

/** What Playwright disables itself; its argument does not count beside ours, so that ours has to name them too. */
const OF_PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

/** Features of Chromium that no test wants. */
export const DISABLED_FEATURES: readonly string[] = [...OF_PLAYWRIGHT, ...PROCESSES_OF_WINDOWS];

/** What a page waits for at most: a bound for what hangs, below the time of a test. Playwright's 30 s pass on a busy machine. */
export const PAGE_MILLISECONDS_MAX = 100_000;

/**
 * A real browser, driven by Playwright.
 * @param args more arguments of Chromium
 * @throws Error where there is no Chromium
 */
export async function launchChromium(...args: string[]): Promise<Browser> {
  const executablePath = findOrInstall('chromium');
  if (!executablePath)
    throw new Error('Chromium is not available to the tests; set PUPPETEER_EXECUTABLE_PATH.');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', `--disable-features=${DISABLED_FEATURES.join(',')}`, ...args],
  });
}
