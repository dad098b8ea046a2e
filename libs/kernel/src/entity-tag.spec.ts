import { entityTag, hashedEntityTag, requireMatch } from './entity-tag';

describe('the tag of a content', () => {
  it('is the same in one piece and in several, and another one of another content', () => {
    const inPieces = hashedEntityTag(['{"a":', '1}'].map((text) => Buffer.from(text)));
    expect(hashedEntityTag([Buffer.from('{"a":1}')])).toBe(inPieces);
    expect(hashedEntityTag('{"a":1}')).toBe(inPieces);
    expect(hashedEntityTag('{"a":2}')).not.toBe(inPieces);
  });
});

describe('the tag of a version', () => {
  it('changes with what is derived', () => {
    expect(new Set([entityTag(1), entityTag(1, 7), entityTag(1, 8), entityTag(17)]).size).toBe(4);
  });
});

describe('the header If-Match', () => {
  it.each([
    [undefined, undefined],
    [undefined, entityTag(1)],
    ['*', entityTag(1)],
    [[entityTag(2), entityTag(1)], entityTag(1)],
    [[entityTag(1, 7)], entityTag(1)],
    [[entityTag(1)], entityTag(1, 7)],
    [[entityTag(1, 7)], entityTag(1, 8)],
  ] as const)('%j allows a change of %j', (ifMatch, current) => {
    expect(() => requireMatch(ifMatch, current)).not.toThrow();
  });

  it.each([
    ['*', undefined],
    [[entityTag(1)], undefined],
    [[entityTag(1)], entityTag(2)],
    [[], entityTag(2)],
    [[`W/${entityTag(2)}`], entityTag(2)],
    [[entityTag(1, 7)], entityTag(2, 7)],
    [[entityTag(1, 7)], entityTag(17)],
  ] as const)('%j refuses a change of %j', (ifMatch, current) => {
    expect(() => requireMatch(ifMatch, current)).toThrow('changed since you read it');
  });
});
