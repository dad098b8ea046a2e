import { LauncherError } from '../run.mjs';

const responseMillisecondsMax = 5_000;
const stallMillisecondsMax = 20_000;

/**
 * What the first reachable address has. A host that cannot be reached costs seconds, never minutes.
 * @param {string[]} urls
 * @returns {Promise<Buffer>}
 */
export async function fetchFile(urls) {
  const errors = [];
  for (const url of urls) {
    try {
      return await fetchOne(url);
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
