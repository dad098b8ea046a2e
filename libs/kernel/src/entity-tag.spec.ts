import { entityTag, hashedEntityTag, requirePrecondition } from './entity-tag';

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

describe('a precondition', () => {
  it.each([
    [undefined, undefined],
    [undefined, entityTag(1)],
    [{ ifMatch: ['*'] }, entityTag(1)],
    [{ ifMatch: [entityTag(2), entityTag(1)] }, entityTag(1)],
    [{ ifMatch: [entityTag(1, 7)] }, entityTag(1)],
    [{ ifMatch: [entityTag(1)] }, entityTag(1, 7)],
    [{ ifMatch: [entityTag(1, 7)] }, entityTag(1, 8)],
    [{ ifNoneMatch: ['*'] }, undefined],
    [{ ifNoneMatch: [entityTag(1)] }, entityTag(2)],
  ] as const)('%j allows a change of %j', (precondition, current) => {
    expect(() => requirePrecondition(precondition, current)).not.toThrow();
  });

  it.each([
    [{ ifMatch: ['*'] }, undefined],
    [{ ifMatch: [entityTag(1)] }, undefined],
    [{ ifMatch: [entityTag(1)] }, entityTag(2)],
    [{ ifMatch: [] }, entityTag(2)],
    [{ ifMatch: [`W/${entityTag(2)}`] }, entityTag(2)],
    [{ ifMatch: [entityTag(1, 7)] }, entityTag(2, 7)],
    [{ ifMatch: [entityTag(1, 7)] }, entityTag(17)],
    [{ ifNoneMatch: ['*'] }, entityTag(1)],
    [{ ifNoneMatch: [entityTag(1)] }, entityTag(1)],
    [{ ifMatch: [entityTag(1)], ifNoneMatch: ['*'] }, entityTag(1)],
  ] as const)('%j refuses a change of %j', (precondition, current) => {
    expect(() => requirePrecondition(precondition, current)).toThrow('changed since you read it');
  });
});
