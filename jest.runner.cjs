const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { dirname, join, relative, sep } = require('node:path');
const { formatResultsErrors } = require('jest-message-util');
const { default: TestRunner } = require('jest-runner');

/** @typedef {import('jest-runner').Test} Spec */
/** @typedef {import('jest-runner').TestEvents['test-file-success'][1]} Result */
/** @typedef {ConstructorParameters<typeof TestRunner>[0]} Config */

const folder = join(__dirname, 'dist', 'tests', 'together');

/**
 * Runs the specs of a project in one file of jest, one after another, and reports each of them as jest does. Jest loads
 * all modules anew for each of its files, which takes longer than the tests of most specs: here the specs of a project
 * share them, as the tests of one spec do. A spec that must not says `@alone`, and why, in its first comment; those that
 * replace a module need not say it, and those of tools (`.integration.spec.ts`) start programs, and load little themselves.
 */
module.exports = class TogetherRunner extends TestRunner {
  /** The specs that a file of jest runs. @type {Map<string, Spec[]>} */
  #specs = new Map();

  /** @type {TestRunner['runTests']} */
  runTests(specs, watcher, options) {
    const keyOf = ({ path, context }) => `${context.config.id} ${isAlone(path) ? path : projectOf(path)}`;
    const files = Object.values(Object.groupBy(specs, keyOf)).map((group = []) => {
      const [{ path, context }] = group;
      const paths = group.map((spec) => spec.path);
      const file = group.length === 1 ? path : writeTogether(paths);
      this.#specs.set(file, group);
      return { path: file, context, size: paths.reduce((sum, each) => sum + statSync(each).size, 0) };
    });
    // The longest first, so that no processor is alone with it at the end.
    files.sort((one, other) => other.size - one.size);
    return super.runTests(files, watcher, options);
  }

  /** @type {TestRunner['on']} */
  on(event, listener) {
    return super.on(event, async (data) => {
      const [test, result] = data;
      // Events of single tests have a path; nobody here shows them.
      const specs = (typeof test !== 'string' && this.#specs.get(test.path)) || [];
      if (specs.length < 2) return listener(data);
      const results = event === 'test-file-success' ? resultsOf(specs, result, this._globalConfig) : [];
      for (const [index, spec] of specs.entries()) await listener([spec, results[index] ?? result]);
    });
  }
};

/** A module that others have loaded before cannot be replaced any more. */
const REPLACES_MODULE = /^jest\.mock\(/m;
const SAYS_ALONE = /^\/\*\*(?:(?!\*\/)[^])*@alone\b/;

/** @param {string} spec */
function isAlone(spec) {
  if (spec.endsWith('.integration.spec.ts')) return true;
  const text = readFileSync(spec, 'utf8');
  return SAYS_ALONE.test(text) || REPLACES_MODULE.test(text);
}

/** @param {string} path @returns {string} the folder of the project of a file */
function projectOf(path) {
  const parent = dirname(path);
  return parent === __dirname || existsSync(join(parent, 'project.json')) ? parent : projectOf(parent);
}

const nameOf = (/** @type {string} */ spec) => relative(__dirname, spec);

/**
 * @param {string[]} specs
 * @returns {string} the path of a file that has all of them
 */
function writeTogether(specs) {
  const text = [
    'const together = (name, path) => describe(name, () => {',
    '  // What a spec has replaced and not given back, as where it failed, ends with it.',
    '  afterAll(() => { jest.restoreAllMocks(); jest.useRealTimers(); });',
    '  // Where it throws, jest runs no test of the file: what follows might belong to a part of it, as to one that is skipped.',
    '  require(path);',
    '});',
    ...specs.map((spec) => `together(${JSON.stringify(nameOf(spec))}, ${JSON.stringify(spec)});`),
    '',
  ].join('\n');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const path = join(folder, `${nameOf(projectOf(specs[0] ?? '')).replaceAll(sep, '-')}-${digest}.cjs`);
  mkdirSync(folder, { recursive: true });
  // Renamed, since other runs of jest may have the same specs.
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
  return path;
}

/**
 * @param {Spec[]} specs in the order in which they ran
 * @param {Result} whole what jest says of the file that had them
 * @param {Config} config
 * @returns {Result[]} what it would say of each
 */
function resultsOf(specs, whole, config) {
  let start = whole.perfStats.start;
  return specs.map(({ path, context }, index) => {
    const testResults = whole.testResults
      .filter(({ ancestorTitles }) => ancestorTitles[0] === nameOf(path))
      .map((test) => {
        const ancestorTitles = test.ancestorTitles.slice(1);
        return { ...test, ancestorTitles, fullName: [...ancestorTitles, test.title].join(' ') };
      });
    // What is of no test may be of any spec, and is said once; where no spec could run, of each.
    const testExecError = index === 0 || whole.testResults.length === 0 ? whole.testExecError : undefined;
    const failed = formatResultsErrors(testResults, context.config, config, path);
    const ofAny =
      testExecError &&
      `In one of ${specs.map((spec) => nameOf(spec.path)).join(', ')}:\n${testExecError.stack}`;
    const failureMessage = [failed, ofAny].filter(Boolean).join('\n\n') || null;
    const count = (/** @type {string} */ status) =>
      testResults.filter((test) => test.status === status).length;
    const ends = testResults.map(({ startAt, duration }) => (startAt ?? start) + (duration ?? 0));
    const end = index === specs.length - 1 ? whole.perfStats.end : Math.max(start, ...ends);
    const runtime = end - start;
    const slow = runtime / 1000 > context.config.slowTestThreshold;
    const perfStats = { ...whole.perfStats, start, end, runtime, slow };
    start = end;
    return {
      ...whole,
      console: index === 0 ? whole.console : undefined,
      failureMessage,
      numFailingTests: count('failed'),
      numPassingTests: count('passed'),
      numPendingTests: count('pending'),
      numTodoTests: count('todo'),
      perfStats,
      skipped: testResults.every((test) => test.status === 'pending'),
      testExecError,
      testFilePath: path,
      testResults,
    };
  });
}
