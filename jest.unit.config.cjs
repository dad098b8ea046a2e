const { mkdirSync } = require('node:fs');
const { join } = require('node:path');
const { compilerOptions } = require('./tsconfig.base.json');

const moduleNameMapper = {
  ...Object.fromEntries(
    Object.entries(compilerOptions.paths)
      .filter(([alias]) => alias.endsWith('/*'))
      .map(([alias, [target]]) => [
        `^${alias.replace('/*', '/(.*)')}$`,
        `<rootDir>/${target.replace('/*', '/$1')}`,
      ]),
  ),
  // The program as it is built, since its sources would be compiled at each start of it.
  '^\\./workbook-reader-program$': '<rootDir>/apps/data-exchange/test/workbook-reader-program.ts',
};

// These packages are ES modules, or load parts of themselves as such; jest runs CommonJS, so they are compiled too.
const esModules = [
  '@opentelemetry/otlp-exporter-base',
  'http-proxy-middleware',
  'httpxy',
  'jose',
  'commander',
  'oauth4webapi',
  'intl-messageformat',
  '@formatjs/.*',
  'uuid',
  'eventsource-parser',
  'gettext-parser',
  'is-plain-obj',
  'puppeteer-core',
  '@puppeteer/.*',
  'chromium-bidi',
  'webdriver-bidi-protocol',
  'typed-query-selector',
  'modern-tar',
];

// The targets of Nx keep the reports of jest here; jest makes no folder for them.
mkdirSync(join(__dirname, 'dist', 'tests'), { recursive: true });

/** The specs beside the sources; they need no server. @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools'],
  testMatch: ['<rootDir>/{apps,libs}/*/src/**/*.spec.ts', '<rootDir>/tools/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '\\.integration\\.spec\\.ts$'],
  moduleNameMapper,
  transform: { '^.+\\.[cm]?[jt]s$': '<rootDir>/jest.transform.cjs' },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules.join('|')})/)`],
  // A bound for what hangs, not a measure: a machine may be busy with other things. A spec that needs longer says so by a name.
  testTimeout: 300_000,
};
