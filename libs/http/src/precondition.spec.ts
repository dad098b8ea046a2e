import type { IncomingHttpHeaders } from 'node:http';
import { entityTag, requirePrecondition } from '@plinth/kernel/entity-tag';
import { noneMatches, readPrecondition } from './precondition';

const current = entityTag(1, 7);
const write = (headers: IncomingHttpHeaders) => () =>
  requirePrecondition(readPrecondition({ method: 'PUT', headers }), current);

describe('If-None-Match', () => {
  it.each([
    ['*', true],
    ['*, *', true],
    ['"1+7"', true],
    ['W/"1+7"', true],
    ['"0", W/"1+7"', true],
    ['"2"', false],
    ['1+7', false],
    ['W/', false],
    [' , ,', false],
    ['', false],
  ])('%j is about what there is, for a read and for a write: %j', (header, isNamed) => {
    const headers = { 'if-none-match': header };
    expect(noneMatches({ method: 'GET', headers }, current)).toBe(isNamed);
    if (isNamed) expect(write(headers)).toThrow('changed since you read it');
    else expect(write(headers)).not.toThrow();
  });

  it('of a read that knows another number asks for the new one, and of a write is about the version', () => {
    const headers = { 'if-none-match': entityTag(1, 6) };
    expect(noneMatches({ method: 'GET', headers }, current)).toBe(false);
    expect(write(headers)).toThrow('changed since you read it');
  });

  it.each(['GET', 'HEAD'])('of a %s is no precondition', (method) => {
    expect(readPrecondition({ method, headers: { 'if-none-match': '*' } })).toBeUndefined();
  });
});

describe('If-Match', () => {
  it.each(['*', '"1+7"', '"0","1+6"'])('%j allows a change of what there is', (header) => {
    expect(write({ 'if-match': header })).not.toThrow();
  });

  it.each(['', ',', '"2"', 'W/"1+7"', '1'])('%j, which names nothing that there is, refuses it', (header) => {
    expect(write({ 'if-match': header })).toThrow('changed since you read it');
  });
});

it('makes no precondition where there is no header', () => {
  expect(readPrecondition({ method: 'PUT', headers: {} })).toBeUndefined();
});
