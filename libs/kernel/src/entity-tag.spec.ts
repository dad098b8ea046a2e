import { entityTag, requireMatch } from './entity-tag';

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    [undefined, entityTag(1)],
    ['*', entityTag(1)],
    [[entityTag(2), entityTag(1)], entityTag(1)],
  ] as const)('%j lets a change of %j pass', (ifMatch, current) => {
    expect(() => requireMatch(ifMatch, current)).not.toThrow();
  });

  it.each([
    ['*', undefined],
    [[entityTag(1)], undefined],
    [[entityTag(1)], entityTag(2)],
    [[], entityTag(2)],
    [[`W/${entityTag(2)}`], entityTag(2)],
  ] as const)('%j stops a change of %j', (ifMatch, current) => {
    expect(() => requireMatch(ifMatch, current)).toThrow('changed since you read it');
  });
});
