import type { Entity } from '../api/workflow';

/** The entity that a text names by its kind, which may have blanks, and its id, which has none: `Order line 7`. */
export function namedEntity(text: string): Entity | undefined {
  const [, entityType, entityId] = /^\s*([^\s/:].*?)[\s/:]+(\S+)\s*$/u.exec(text) ?? [];
  return entityType && entityId ? { entityType, entityId } : undefined;
}
