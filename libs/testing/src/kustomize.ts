import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findOrInstall } from './find-or-install';

const root = join(__dirname, '../../..');

/** The YAML that `kubectl apply -k` would send, or undefined where neither kubectl nor kustomize is installed. */
export function renderKustomization(folder: string): string | undefined {
  const path = join(root, folder);
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
