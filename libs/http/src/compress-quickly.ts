import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compress = promisify(gzip);

/**
 * Compresses a large body that is read once, so that little time for it matters more than the last bytes. Given as the
 * `gzip` of a response, it also has the JSON written in turns of the event loop.
 */
export const compressQuickly = async (json: () => Promise<Buffer>): Promise<Buffer> =>
  compress(await json(), { level: constants.Z_BEST_SPEED });
