import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Words that docs/glossary.md has standard terms for. Lint keeps them out of names in code, this out of texts. */
const formerTerms = /\b(?:answer(?:s|ed|ing)?|facts?|siblings?|stand-ins?|store of files)\b/i;

const root = join(__dirname, '../../..');

/** What people read: pages, alerts and dashboards, texts of the platform, and the interface with its problems. */
const texts = execFileSync(
  'git',
  [
    ...['ls-files', '*.md', 'k8s', 'apps/localization/src/resources/*/en.json', 'openapi/plinth.json'],
    // Pages that tell what was, and the one that names these words.
    ...[':!CHANGELOG.md', ':!docs/adr', ':!docs/measurements', ':!docs/glossary.md'],
  ],
  { cwd: root, encoding: 'utf8' },
)
  .trim()
  .split('\n');

it('has no former term where people read', () => {
  const found = texts.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (formerTerms.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
