import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run.mjs';
import { intoCache } from './cache.mjs';
import { fetchFile } from './fetch-file.mjs';
import { findProgram } from './find-program.mjs';
import { machineName } from './machine.mjs';
import { isAtLeast } from './versions.mjs';
import { unpackZip } from './zip-archive.mjs';

const version = '1.26.8';

/** What the archives of this version hash to, by sha256. @type {import('./machine.mjs').ByMachine} */
const checksums = {
  'linux-amd64': '30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7',
  'linux-arm64': '02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99',
  'darwin-amd64': 'fe99a2009e5bb51e06d7784f1a486478673512041c2671157bd382806e2aedcf',
  'darwin-arm64': '0aad5fb52b88498885290178adc0bcfe429bc63012621af9f83282eb640bd9c7',
};

/**
 * A Go that can build today's programs: the machine's, else the one that its makers publish as a Go module.
 * Undefined where there is none for this machine.
 * @param {import('./cache.mjs').Task} task
 * @returns {Promise<string | undefined>}
 */
export async function findGo(task) {
  const installed = findProgram('go', ['/usr/local/go/bin', '/usr/lib/go/bin']);
  // From this version on Go fetches the version that a module asks for.
  if (installed !== undefined && isAtLeast(await run(installed, ['version']), '1.21')) return installed;
  const machine = machineName();
  if (machine === undefined) return undefined;
  const { program } = await intoCache({ name: 'go', version, path: 'bin/go' }, task, async (folder) => {
    task.doing(`downloading Go ${version} (70 MB, once on this machine)`);
    const name = `golang.org/toolchain@v0.0.1-go${version}.${machine}`;
    const url = `https://proxy.golang.org/${name.replace('@', '/@v/')}.zip`;
    const archive = await fetchFile([url], checksums[machine]);
    unpackZip(archive, folder, (file) => /\/(bin|pkg\/tool)\//.test(file));
    for (const part of ['bin', 'pkg', 'src', 'lib', 'go.env', 'VERSION'])
      renameSync(join(folder, name, part), join(folder, part));
    return 'downloaded';
  });
  return program;
}
