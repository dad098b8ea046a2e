import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentText } from './document';

describe('openapi/plinth.json', () => {
  it('is what the contracts make of it; `npm run openapi` writes it anew', () => {
    expect(documentText()).toBe(readFileSync(join(process.cwd(), 'openapi', 'plinth.json'), 'utf8'));
  });
});
