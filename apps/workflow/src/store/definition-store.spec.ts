import type { DefinitionVersion } from '../domain/definition';
import { builtInDefinitions } from '../domain/definitions/built-in';
import { tagOf } from './definition-store';

describe('the tag of a definition', () => {
  const stored: DefinitionVersion = {
    definition: builtInDefinitions.get('Invoice')!,
    version: 2,
    scope: 'Tenant',
    savedAt: new Date(0),
    savedBy: 'ada',
  };

  it('differs between versions and scopes', () => {
    const tags = [stored, { ...stored, version: 3 }, { ...stored, scope: 'Platform' as const }].map(tagOf);
    expect(new Set(tags).size).toBe(3);
  });

  it('differs between what two releases are delivered with, which is the first version of both', () => {
    const delivered = { ...stored, version: 1, scope: 'Platform' as const, savedAt: null, savedBy: null };
    const next = { ...delivered, definition: { ...delivered.definition, finalStates: ['Paid'] } };
    expect(tagOf(next)).not.toBe(tagOf(delivered));
    expect(tagOf({ ...delivered })).toBe(tagOf(delivered));
  });
});
