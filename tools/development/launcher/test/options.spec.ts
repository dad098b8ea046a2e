import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** What the launcher makes of these arguments; in a process of its own, since the launcher consists of ES modules. */
const parentOf = (...options: string[]): string => {
  const file = JSON.stringify(join(__dirname, '..', 'options.mjs'));
  const code = `import { readOptions } from ${file}; console.log(readOptions(${JSON.stringify(options)}).parent)`;
  return execFileSync('node', ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
};

describe('the options of the launcher', () => {
  it('name a parent by the id of its process, or none', () => {
    expect(parentOf('--parent', '4711')).toBe('4711');
    expect(parentOf()).toBe('undefined');
  });

  it.each(['none', '', '0', '1.5'])('refuse a parent that is no id of a process: %j', (parent) => {
    expect(() => parentOf('--parent', parent)).toThrow('The parent is the id of a process.');
  });
});
