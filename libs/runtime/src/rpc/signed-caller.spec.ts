import fc from 'fast-check';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { hashOf, signCaller, verifyBody, verifyCaller } from './signed-caller';

const caller = { tenantId: HOST_TENANT_ID, userId: 'ada', userName: 'Ada', permissions: [] };
const request = { method: 'GET', path: '/api/v1/settings/user' };
const claims = { caller, tenantId: caller.tenantId, ...request, instance: '/api/settings/user' };
const now = new Date('2026-11-21T12:00:00Z');
const signed = signCaller(claims, ['new', 'old'], now);

describe('a signed caller', () => {
  it('is read back as it was signed, also with the key in second place', () => {
    expect(verifyCaller(signed, request, ['newer', 'new'], now)).toMatchObject(claims);
  });

  it('is accepted while keys change in the steps of k8s/README.md, where some processes have the former list', () => {
    const understand = (one: readonly string[], other: readonly string[]) =>
      [one, other].every((signers, index) => {
        const fresh = signCaller(claims, signers, now);
        try {
          return verifyCaller(fresh, request, index === 0 ? other : one, now) !== undefined;
        } catch {
          return false;
        }
      });
    expect(understand(['old'], ['old', 'new'])).toBe(true);
    expect(understand(['old', 'new'], ['new', 'old'])).toBe(true);
    expect(understand(['new', 'old'], ['new'])).toBe(true);
    // What two steps in one would be.
    expect(understand(['old'], ['new', 'old'])).toBe(false);
  });

  it('is accepted once, and two of the same request are not the same', () => {
    const [one, other] = [signCaller(claims, ['new'], now), signCaller(claims, ['new'], now)];
    verifyCaller(one, request, ['new'], now);
    expect(() => verifyCaller(one, request, ['new'], now)).toThrow('gateway');
    const last = new Date(now.getTime() + 60_000);
    expect(() => verifyCaller(one, request, ['new'], last)).toThrow('gateway');
    verifyCaller(other, request, ['new'], last);
  });

  it('is worth nothing for another query, or for another body than was signed', () => {
    const query = { method: 'GET', path: '/api/v1/contacts?filter[name.eq]=Ada' };
    const asked = signCaller({ ...claims, ...query }, ['new'], now);
    expect(() => verifyCaller(asked, { ...query, path: '/api/v1/contacts' }, ['new'], now)).toThrow(
      'gateway',
    );
    const body = Buffer.from('{"value":1}');
    const sent = verifyCaller(
      signCaller({ ...claims, bodyHash: hashOf(body) }, ['new'], now),
      request,
      ['new'],
      now,
    );
    verifyBody(sent, body);
    expect(() => verifyBody(sent, Buffer.from('{"value":2}'))).toThrow('gateway');
  });

  it('is worth nothing for another request, later, or under another key', () => {
    expect(() => verifyCaller(signed, { ...request, method: 'PUT' }, ['new'], now)).toThrow('gateway');
    expect(() => verifyCaller(signed, { ...request, path: '/x' }, ['new'], now)).toThrow('gateway');
    expect(() => verifyCaller(signed, request, ['new'], new Date('2026-11-21T12:01:02Z'))).toThrow('gateway');
    expect(() => verifyCaller(signed, request, ['old'], now)).toThrow('gateway');
    expect(() => verifyCaller(undefined, request, ['new'], now)).toThrow('gateway');
  });

  it('does not survive a change of a single character', () => {
    fc.assert(
      fc.property(fc.nat(signed.length - 2), fc.constantFrom('A', 'z', '.', '-'), (at, character) => {
        fc.pre(signed[at] !== character);
        const forged = signed.slice(0, at) + character + signed.slice(at + 1);
        expect(() => verifyCaller(forged, request, ['new'], now)).toThrow('gateway');
      }),
    );
  });
});
