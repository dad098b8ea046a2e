import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const root = join(__dirname, '../../../..');

/** Specs of projects, by name: they count how often a module is loaded, and whatever else may go wrong in one of them. */
const projects = {
  project: {
    first: `
      const { load } = require('./module.cjs');
      beforeAll(() => { jest.spyOn(Math, 'random').mockReturnValue(7); });
      it('loads the module', () => expect(load.times).toBe(1));
      it('has a clock of its own', () => expect(Math.random()).toBe(7));
    `,
    second: `
      const { load } = require('./module.cjs');
      describe('what it does', () => {
        it('has the module of the first', () => expect([load.times, ++load.users]).toEqual([1, 2]));
        it('has nothing that the first replaced', () => expect(Math.random()).toBeLessThan(1));
        it('fails', () => { throw new Error('as it should'); });
        it.skip('is skipped', () => {});
      });
    `,
    'by-itself': `
      /** Counts loads/users. @alone because it counts */
      const { load } = require('./module.cjs');
      it('loads the module again', () => expect(++load.users).toBe(2));
    `.trim(),
  },
  'not-loaded': {
    broken: `describe('outer', () => { describe.skip('inner', () => { throw new Error('not loaded'); }); });`,
    following: `it('is there', () => {});`,
  },
  'not-ended': {
    before: `it('is there', () => {});`,
    ending: `it('passes', () => {}); afterAll(() => { throw new Error('not ended'); });`,
  },
};

interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

it('specs of a project run together, and each is reported as jest does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-specs-'));
  for (const [project, specs] of Object.entries(projects)) {
    mkdirSync(join(folder, project));
    writeFileSync(join(folder, project, 'project.json'), '{}');
    for (const [name, text] of Object.entries(specs))
      writeFileSync(join(folder, project, `${name}.spec.cjs`), text);
  }
  writeFileSync(
    join(folder, 'project/module.cjs'),
    'exports.load = { times: (globalThis.loads = (globalThis.loads ?? 0) + 1), users: 1 };',
  );
  const config = { rootDir: folder, testMatch: ['**/*.spec.cjs'], transform: {}, cacheDirectory: folder };
  const output = join(folder, 'report.json');
  await new Promise((resolve) =>
    execFile(
      process.execPath,
      [
        ...[join(root, 'node_modules/jest/bin/jest.js'), '--config', JSON.stringify(config), '--runInBand'],
        ...['--runner', join(root, 'jest.runner.cjs'), '--json', '--outputFile', output],
      ],
      { cwd: folder },
      resolve,
    ),
  );
  const { numPassedTests, testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report;
  rmSync(folder, { recursive: true });

  const resultOf = (name: string) =>
    testResults.find((result) => basename(result.name) === `${name}.spec.cjs`)!;
  const testsOf = (name: string) =>
    resultOf(name).assertionResults.map(({ fullName, status }) => `${status}: ${fullName}`);
  expect(testResults).toHaveLength(7);
  expect(numPassedTests).toBe(7);
  expect(testsOf('first')).toEqual(['passed: loads the module', 'passed: has a clock of its own']);
  expect(testsOf('second')).toEqual([
    'passed: what it does has the module of the first',
    'passed: what it does has nothing that the first replaced',
    'failed: what it does fails',
    'pending: what it does is skipped',
  ]);
  expect(resultOf('second').message).toMatch(/● what it does › fails[^]*as it should/);
  expect(testsOf('by-itself')).toEqual(['passed: loads the module again']);
  for (const name of ['broken', 'following'])
    expect(resultOf(name)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('not loaded'),
    });
  const messages = ['before', 'ending'].map((name) => resultOf(name).message).filter(Boolean);
  expect(messages).toEqual([expect.stringMatching(/^In one of (?=.*before)(?=.*ending).*\n.*not ended/)]);
});
