import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../release/chart/manifest';

const root = join(__dirname, '../../..');

/** What `kubectl apply -k` would send, or undefined where neither kubectl nor kustomize is installed. */
export function renderManifests(folder: string): Manifest[] | undefined {
  const yaml = render(join(root, folder));
  return yaml === undefined
    ? undefined
    : parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}

function render(path: string): string | undefined {
  const byKubectl = spawnSync('kubectl', ['kustomize', path], { encoding: 'utf8' });
  if (!byKubectl.error) return requireSuccess(byKubectl);
  const kustomize = findOrInstall('kustomize');
  return kustomize && requireSuccess(spawnSync(kustomize, ['build', path], { encoding: 'utf8' }));
}

function requireSuccess({
  status,
  stdout,
  stderr,
}: {
  status: number | null;
  stdout: string;
  stderr: string;
}): string {
  if (status !== 0 || stderr !== '') throw new Error(stderr);
  return stdout;
}
