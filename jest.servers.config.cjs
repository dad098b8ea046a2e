const unit = require('./jest.unit.config.cjs');

/** The specs that need servers; they run before the first of them. @type {import('jest').Config} */
module.exports = {
  ...unit,
  globalSetup: '<rootDir>/libs/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.ts',
  testMatch: ['<rootDir>/{apps,libs}/*/test/**/*.spec.ts', '**/*.integration.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
