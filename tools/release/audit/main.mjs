import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { openHoles } from './known-holes.mjs';

/** `npm run audit`: fails on known holes in what production runs. Where the registry does not answer it says so. */
function main() {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = reportOf(stdout);
  if (!report?.vulnerabilities) {
    console.error('NOT AUDITED: the registry did not say which holes are known.');
    return;
  }
  const exceptions = JSON.parse(readFileSync(new URL('exceptions.json', import.meta.url), 'utf8'));
  const holes = openHoles(report, exceptions, new Date().toISOString().slice(0, 10));
  for (const hole of holes) console.error(hole);
  if (holes.length > 0) process.exitCode = 1;
}

/** @param {string} text @returns {import('./known-holes.mjs').AuditReport | undefined} */
function reportOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

main();
