import { isUuid } from './uuid';
import { uuidFrom } from './uuid-from';

const TENANT = '0199c3a2-7b1e-7c44-9d5a-2f8f1e6b4c10';
const OPERATION = '5f2d7c1a-3b4e-8f60-9a7b-1c2d3e4f5a6b';

describe('uuidFrom', () => {
  it('makes the operation ids, move ids and ledger ids that are stored', () => {
    const idempotencyKey = JSON.stringify([TENANT, 'user-1', 'POST', '/api/v1/contacts', 'key-1']);

    expect(uuidFrom(idempotencyKey)).toBe('905ce41c-bdd3-8717-8d08-22fceb0c5f0b');
    expect(uuidFrom(`${TENANT}\n${OPERATION}`, '8')).toBe('093e1662-2c69-80b7-8c09-4717236ab5aa');
    expect(uuidFrom(`${OPERATION}/3`, 'a')).toBe('88922a5e-e6fb-8b84-a1c1-ded0edea3917');
  });

  it('makes UUIDs of version 8 with a valid variant', () => {
    const ids = Array.from({ length: 200 }, (_, index) => uuidFrom(String(index)));

    expect(ids.every(isUuid)).toBe(true);
    expect(ids.every((id) => /^.{14}8.{4}[89ab]/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(200);
  });
});
