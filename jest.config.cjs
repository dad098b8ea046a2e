/** Every spec: `jest path/to/some.spec.ts` starts servers only where it needs them. @type {import('jest').Config} */
module.exports = {
  projects: ['<rootDir>/jest.unit.config.cjs', '<rootDir>/jest.servers.config.cjs'],
  // A bound for what hangs, not a measure: a machine may be busy with other things. Jest reads it here only.
  testTimeout: 300_000,
};
