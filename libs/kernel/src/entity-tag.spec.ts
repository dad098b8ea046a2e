import { entityTag, requireMatch } from './entity-tag';

describe('the header If-Match', () => {
  it.each([
    [undefined, undefined],
    [undefined, entityTag(1)],
    ['*', entityTag(1)],
    [[entityTag(2), entityTag(1)], entityTag(1)],
  ] as const)('%j allows a change of %j', (ifMatch, current) => {
    expect(() => requireMatch(ifMatch, current)).not.toThrow();
  });

  it.each([
    ['*', undefined],
    [[entityTag(1)], undefined],
    [[entityTag(1)], entityTag(2)],
    [[], entityTag(2)],
    [[`W/${entityTag(2)}`], entityTag(2)],
  ] as const)('%j refuses a change of %j', (ifMatch, current) => {
    expect(() => requireMatch(ifMatch, current)).toThrow('changed since you read it');
  });
});
