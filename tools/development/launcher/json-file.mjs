import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The value kept in a JSON file, or the given one where the file is missing or broken.
 * @template T
 * @param {string} file
 * @param {T} otherwise
 * @returns {T}
 */
export function readJson(file, otherwise) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return otherwise;
  }
}

/**
 * Replaces the file in one step, so that a reader never sees half of it.
 * @param {string} file
 * @param {unknown} value
 * @param {number} [mode]
 */
export function writeJson(file, value, mode = 0o644) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode });
  renameSync(draft, file);
}
