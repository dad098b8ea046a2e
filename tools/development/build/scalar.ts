import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { intoCache } from '../launcher/servers/cache.mjs';
import { LauncherError, run } from '../launcher/run.mjs';

const version = '1.72.1';
const integrity =
  'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==';
const wanted = { name: 'scalar', version, path: 'package/dist/browser/standalone.esm.js' };

/**
 * The browser build of Scalar, from the cache of this machine or the registry of npm. It is whole in itself: as a
 * dependency it would bring 249 packages that nobody uses (ADR 0026).
 */
export async function findScalar(): Promise<string> {
  const task = { doing: () => undefined, progress: () => undefined, result: () => undefined };
  const { program } = await intoCache(wanted, task, async (folder) => {
    const name = `@scalar/api-reference@${version}`;
    const output = await run('npm', [
      'pack',
      '--json',
      '--loglevel=error',
      '--pack-destination',
      folder,
      name,
    ]);
    const [packed] = JSON.parse(output.slice(output.indexOf('['))) as {
      filename: string;
      integrity: string;
    }[];
    if (packed?.integrity !== integrity)
      throw new LauncherError(`${name} is not what was expected: its integrity is ${packed?.integrity}.`);
    const archive = join(folder, packed.filename);
    await run('tar', ['-xzf', archive, '-C', folder, 'package/dist/browser']);
    rmSync(archive);
    return 'packed by npm';
  });
  return program;
}
