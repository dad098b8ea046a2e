import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DISABLED_FEATURES } from './launch-chromium';

it('a browser for tests lacks the features that Playwright switches off', () => {
  const playwright = dirname(require.resolve('playwright-core/package.json'));
  const source = readFileSync(join(playwright, 'lib/coreBundle.js'), 'utf8');
  const [, list = ''] = /disabledFeatures = \[([^]*?)\]/.exec(source) ?? [];
  const features = [...list.matchAll(/^\s*"(\w+)"/gm)].map(([, name]) => name!);
  // Those of Edge begin with ms.
  const ofChromium = features.filter((name) => !name.startsWith('ms'));
  expect(ofChromium.length).toBeGreaterThan(5);
  expect(DISABLED_FEATURES).toEqual(expect.arrayContaining(ofChromium));
});
