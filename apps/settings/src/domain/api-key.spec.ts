import type { Caller } from '@plinth/kernel/caller';
import { grantApiKey } from './api-key';

const now = new Date('2026-11-21T12:00:00Z');
const caller = (parts: Partial<Caller> = {}): Caller => ({
  tenantId: '01900000-0000-7000-8000-00000000aaaa',
  userId: 'ada',
  userName: 'Ada',
  permissions: ['Contacts.Contacts.Read', 'Platform.ApiKeys.Manage'],
  ...parts,
});
const request = (parts: object = {}) => ({
  name: 'nightly',
  permissions: ['Contacts.Contacts.Read'],
  ...parts,
});

describe('what an API key may do', () => {
  it('is what its creator may do at most', () => {
    expect(grantApiKey(caller(), request(), now).permissions).toEqual(['Contacts.Contacts.Read']);
    const more = request({ permissions: ['Contacts.Contacts.Read', 'Contacts.Contacts.Manage'] });
    expect(() => grantApiKey(caller(), more, now)).toThrow('Contacts.Contacts.Manage');
    expect(grantApiKey(caller({ permissions: ['*'] }), more, now).permissions).toHaveLength(2);
  });

  it('ends after 90 days, or when its creator says, within 366 days', () => {
    const expiryOf = (expiresAt?: string) =>
      grantApiKey(caller(), request(expiresAt === undefined ? {} : { expiresAt }), now).expiresAt;

    expect(expiryOf()).toEqual(new Date('2027-02-19T12:00:00Z'));
    expect(expiryOf('2027-11-22T12:00:00Z')).toEqual(new Date('2027-11-22T12:00:00Z'));
    // Clocks may have been set back since.
    expect(expiryOf('2027-11-22T13:00:00Z')).toEqual(new Date('2027-11-22T13:00:00Z'));
    for (const refused of ['2027-11-22T14:00:01Z', '2026-11-21T12:00:00Z', '2020-01-01T00:00:00Z'])
      expect(() => expiryOf(refused)).toThrow('at most 366 days');
  });

  it('is given by people, not by other keys', () => {
    expect(() => grantApiKey(caller({ apiKeyId: 'one' }), request(), now)).toThrow('API key');
  });
});
