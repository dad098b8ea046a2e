import { LauncherError } from '../run.mjs';

const answerWithinMs = 5_000;
const stallWithinMs = 20_000;

/**
 * The first of the addresses that answers. A host that cannot be reached costs seconds, never minutes.
 * @param {string[]} urls
 * @returns {Promise<Buffer>}
 */
export async function fetchFile(urls) {
  const faults = [];
  for (const url of urls) {
    try {
      return await fetchOne(url);
    } catch (error) {
      faults.push(`${url} could not be fetched: ${reasonOf(error)}`);
    }
  }
  throw new LauncherError(faults.join('\n  '));
}

/** @param {string} url */
async function fetchOne(url) {
  const controller = new AbortController();
  let timer = setTimeout(() => controller.abort(new Error('no answer')), answerWithinMs);
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const chunks = [];
    for await (const chunk of response.body) {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(new Error('the download stalled')), stallWithinMs);
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
