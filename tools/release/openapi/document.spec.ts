import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentText } from './document';

describe('openapi/plinth.json', () => {
  it('is generated from the contracts as they are (`npm run openapi`)', () => {
    expect(documentText()).toBe(readFileSync(join(process.cwd(), 'openapi', 'plinth.json'), 'utf8'));
  });
});
