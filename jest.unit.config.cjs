const config = require('./jest.config.cjs');

/** The specs beside the sources; they need no server. @type {import('jest').Config} */
module.exports = {
  ...config,
  globalSetup: undefined,
  testMatch: [
    '<rootDir>/libs/**/src/**/*.spec.ts',
    '<rootDir>/apps/*/src/**/*.spec.ts',
    '<rootDir>/tools/**/*.spec.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/', '\\.integration\\.spec\\.ts$'],
};
