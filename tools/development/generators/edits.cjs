/**
 * Changes a file; throws when it is no longer as the generators know it.
 * @param {import('@nx/devkit').Tree} tree
 * @param {string} path
 * @param {(text: string) => string} change
 */
function edit(tree, path, change) {
  const before = tree.read(path, 'utf8');
  if (before === null) throw new Error(`${path} is not there.`);
  const after = change(before);
  if (after === before) throw new Error(`${path} has another form than expected; add the new lines by hand.`);
  tree.write(path, after);
}

/**
 * Puts a text after the last place where the pattern matches.
 * @param {string} text
 * @param {RegExp} pattern
 * @param {string} addition
 */
function afterLast(text, pattern, addition) {
  const last = [...text.matchAll(new RegExp(pattern, 'gm'))].at(-1);
  if (last === undefined) return text;
  const end = last.index + last[0].length;
  return text.slice(0, end) + addition + text.slice(end);
}

/**
 * Puts a text before the first place where the pattern matches.
 * @param {string} text
 * @param {RegExp} pattern
 * @param {string} addition
 */
function beforeFirst(text, pattern, addition) {
  const first = new RegExp(pattern, 'm').exec(text);
  return first === null ? text : text.slice(0, first.index) + addition + text.slice(first.index);
}

module.exports = { edit, afterLast, beforeFirst };
