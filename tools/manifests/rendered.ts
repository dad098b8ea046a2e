import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { broughtProgram } from '@plinth/testing/brought-program';
import { parseAllDocuments } from 'yaml';

const root = join(__dirname, '../..');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

/** What `kubectl apply -k` would send, or undefined where there is nothing to render it with. */
export function rendered(folder: string): Manifest[] | undefined {
  const yaml = render(join(root, folder));
  return yaml === undefined
    ? undefined
    : parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}

function render(path: string): string | undefined {
  const byKubectl = spawnSync('kubectl', ['kustomize', path], { encoding: 'utf8' });
  if (!byKubectl.error) return requireGood(byKubectl);
  const kustomize = broughtProgram('kustomize');
  return kustomize && requireGood(spawnSync(kustomize, ['build', path], { encoding: 'utf8' }));
}

function requireGood({
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
