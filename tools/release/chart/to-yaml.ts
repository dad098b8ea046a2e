import { stringify } from 'yaml';

/** YAML for Helm and Kubernetes, which read version 1.1: there `off` without quotes is no text. */
export const toYaml = (value: unknown): string =>
  stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
