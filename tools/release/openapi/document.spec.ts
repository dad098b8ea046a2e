import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

describe('openapi/plinth.json and docs/limits-of-each-call.md', () => {
  it('are generated from the contracts as they are (`npm run openapi`)', () => {
    const node = join(root, 'node_modules/.bin/node');
    const check = () =>
      execFileSync(node, ['tools/release/openapi/main.ts', '--check'], { cwd: root, stdio: 'pipe' });
    expect(check).not.toThrow();
  });
});

interface Operation {
  operationId: string;
  parameters?: { $ref?: string }[];
  responses: Record<string, { headers?: object }>;
}

describe('an operation of the document', () => {
  const { paths } = JSON.parse(readFileSync(join(root, 'openapi/plinth.json'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const operations = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).map(([method, operation]) => ({ method, ...operation })),
  );
  const takes = ({ parameters = [] }: Operation, name: string): boolean =>
    parameters.some(({ $ref }) => $ref === `#/components/parameters/${name}`);
  const have = (header: string): string[] =>
    operations
      .filter(({ responses }) => Object.values(responses).some(({ headers = {} }) => header in headers))
      .map(({ operationId }) => operationId);

  it('may be 400 where it takes a tenant, which may be malformed', () => {
    const withTenant = operations.filter((operation) => takes(operation, 'TenantId'));
    expect(withTenant.length).toBeGreaterThan(100);
    expect(withTenant.filter(({ responses }) => !('400' in responses))).toEqual([]);
  });

  it('is said to be replayed only where a response is stored under a key', () => {
    const replayed = operations.filter((operation) => takes(operation, 'IdempotencyKey'));
    // Its secret is shown once.
    const shown = ['postApiKey'];
    expect(have('X-Idempotency-Replayed').sort()).toEqual(
      replayed
        .map(({ operationId }) => operationId)
        .filter((id) => !shown.includes(id))
        .sort(),
    );
  });

  it('has no tag of what it deleted', () => {
    const deletions = operations.filter(({ method }) => method === 'delete');
    expect(deletions.filter(({ operationId }) => have('ETag').includes(operationId))).toEqual([]);
  });

  it('has no tag where it honours `If-Match` but its response has none', () => {
    const tagged = have('ETag');
    expect(['publishTemplate', 'executeImport'].filter((id) => tagged.includes(id))).toEqual([]);
    expect(tagged).toEqual(expect.arrayContaining(['putTemplate', 'putLocalizationOverride', 'putSetting']));
  });
});
