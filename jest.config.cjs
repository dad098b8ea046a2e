const { compilerOptions } = require('./tsconfig.base.json');

const moduleNameMapper = Object.fromEntries(
  Object.entries(compilerOptions.paths).map(([alias, [target]]) => [
    `^${alias.replace('/*', '/(.*)')}$`,
    `<rootDir>/${target.replace('/*', '/$1')}`,
  ]),
);

// These packages are ES modules, or load parts of themselves as such; jest runs CommonJS, so they are compiled too.
const esModules = [
  '@opentelemetry/otlp-exporter-base',
  'http-proxy-middleware',
  'httpxy',
  'jose',
  'uuid',
  'is-plain-obj',
  'puppeteer-core',
  '@puppeteer/.*',
  'chromium-bidi',
  'webdriver-bidi-protocol',
  'typed-query-selector',
  'modern-tar',
];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools'],
  testMatch: ['**/*.spec.ts'],
  globalSetup: '<rootDir>/libs/testing/src/global-setup.ts',
  moduleNameMapper,
  transform: {
    '^.+\\.[cm]?[jt]s$': ['@swc/jest', { jsc: { target: 'es2024' }, module: { type: 'commonjs' } }],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules.join('|')})/)`],
  // A bound for what hangs, not a measure: a machine may be busy with other things.
  testTimeout: 120_000,
};
