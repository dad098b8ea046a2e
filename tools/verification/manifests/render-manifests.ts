import { renderKustomization } from '@plinth/testing/kustomize';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../release/chart/manifest';

/** What `kubectl apply -k` would send, or undefined where neither kubectl nor kustomize is installed. */
export function renderManifests(folder: string): Manifest[] | undefined {
  const yaml = renderKustomization(folder);
  return yaml === undefined
    ? undefined
    : parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}
