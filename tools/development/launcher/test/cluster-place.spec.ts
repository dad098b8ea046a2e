import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const clusterPlace = JSON.stringify(join(__dirname, '..', 'servers', 'cluster-place.mjs'));
let folder: string;
let machineData: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-clusters-'));
  machineData = join(folder, 'machine');
  mkdirSync(machineData);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A cluster that was made long ago for a checkout, which has a link to it. */
function aCluster(name: string, ending: string): { place: string; checkout: string } {
  const [place, checkout] = [join(machineData, `postgres-${name}`), join(folder, name)];
  mkdirSync(place);
  mkdirSync(checkout);
  symlinkSync(place, join(checkout, 'postgres'));
  const file = `${place}${ending}`;
  writeFileSync(file, join(checkout, 'postgres'));
  const yesterday = new Date(Date.now() - 86_400_000);
  utimesSync(file, yesterday, yesterday);
  return { place, checkout };
}

describe('clusters outside of their checkouts', () => {
  it('stay where the checkout of a platform is moved, and go only with that of tests', () => {
    const [platform, kept, gone] = [
      aCluster('platform', '.link'),
      aCluster('kept', '.test'),
      aCluster('gone', '.test'),
    ];
    for (const { checkout } of [platform, gone]) renameSync(checkout, `${checkout}-old`);

    const script = `import { deleteOrphanedTestClusters } from ${clusterPlace}; deleteOrphanedTestClusters(${JSON.stringify(machineData)});`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect([platform, kept, gone].map(({ place }) => existsSync(place))).toEqual([true, true, false]);
  });
});
