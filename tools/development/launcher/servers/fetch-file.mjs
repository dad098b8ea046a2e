import { createHash } from 'node:crypto';
import { LauncherError } from '../run.mjs';

const responseMillisecondsMax = 5_000;
const stallMillisecondsMax = 20_000;

/**
 * What the first reachable address has, when it is what was expected. A host that cannot be reached costs seconds,
 * never minutes.
 * @param {string[]} urls
 * @param {string} sha256 of the file, in hexadecimal digits
 * @returns {Promise<Buffer>}
 */
export async function fetchFile(urls, sha256) {
  const errors = [];
  for (const url of urls) {
    try {
      const file = await fetchOne(url);
      const found = createHash('sha256').update(file).digest('hex');
      if (found !== sha256) throw new Error(`its checksum is ${found} and not ${sha256}`);
      return file;
    } catch (error) {
      errors.push(`${url} could not be fetched: ${reasonOf(error)}`);
    }
  }
  throw new LauncherError(errors.join('\n  '));
}

/** @param {string} url */
async function fetchOne(url) {
  const controller = new AbortController();
  let timer = setTimeout(() => controller.abort(new Error('no response')), responseMillisecondsMax);
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const chunks = [];
    for await (const chunk of response.body) {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(new Error('the download stalled')), stallMillisecondsMax);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
