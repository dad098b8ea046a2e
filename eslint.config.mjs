import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

const services = [
  'settings',
  'localization',
  'data-exchange',
  'template',
  'timeline',
  'workflow',
  'gateway',
  'contacts',
];

const typeConstraints = [
  {
    sourceTag: 'type:kernel',
    onlyDependOnLibsWithTags: ['type:kernel'],
    allowedExternalImports: ['zod', 'uuid', 'fast-check'],
  },
  {
    sourceTag: 'type:contracts',
    onlyDependOnLibsWithTags: ['type:contracts', 'type:kernel'],
    allowedExternalImports: ['zod', 'fast-check'],
  },
  { sourceTag: 'type:proto', onlyDependOnLibsWithTags: ['type:proto', 'type:kernel'] },
  { sourceTag: 'type:runtime', onlyDependOnLibsWithTags: ['type:runtime', 'type:kernel'] },
  {
    sourceTag: 'type:conventions',
    onlyDependOnLibsWithTags: [
      'type:conventions',
      'type:contracts',
      'type:kernel',
      'type:proto',
      'type:runtime',
    ],
  },
  { sourceTag: 'type:sdk', onlyDependOnLibsWithTags: ['type:sdk', 'type:kernel', 'type:contracts'] },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: [
      'type:kernel',
      'type:contracts',
      'type:conventions',
      'type:runtime',
      'type:proto',
      'type:testing',
    ],
  },
  {
    sourceTag: 'type:testing',
    onlyDependOnLibsWithTags: [
      'type:testing',
      'type:kernel',
      'type:contracts',
      'type:conventions',
      'type:runtime',
      'type:proto',
      'type:sdk',
    ],
  },
];

const scopeConstraints = services.map((service) => ({
  sourceTag: `scope:${service}`,
  onlyDependOnLibsWithTags: [`scope:${service}`, 'scope:shared'],
}));

const forbid = (patterns) => ['error', { patterns }];
const testsOnly = { group: ['@plinth/testing/*'], message: 'libs/testing is for specs only.' };

export default tseslint.config(
  { ignores: ['**/node_modules', '**/dist', '**/generated', '.plinth', '.nx'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{ts,mts}'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          allow: [],
          enforceBuildableLibDependency: false,
          depConstraints: [...typeConstraints, ...scopeConstraints],
        },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use an `as const` object.' },
        { selector: 'ExportDefaultDeclaration', message: 'Exports have names (ADR 0008).' },
      ],
    },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/testing/**'],
    rules: { 'no-restricted-imports': forbid([testsOnly]) },
  },
  {
    files: ['apps/*/src/domain/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': forbid([
        testsOnly,
        {
          group: [
            'express',
            '@prisma/*',
            '@nats-io/*',
            'ioredis',
            'pg',
            '**/store/*',
            '**/routes/*',
            '**/generated/*',
          ],
          message: 'The domain decides; it does not touch the world.',
        },
      ]),
    },
  },
  {
    files: ['apps/*/src/routes/**/*.ts'],
    rules: {
      'no-restricted-imports': forbid([
        testsOnly,
        { group: ['@prisma/*', 'pg', '**/generated/*'], message: 'Routes speak to stores.' },
      ]),
    },
  },
  {
    files: ['apps/*/src/temporal/workflows/**/*.ts'],
    rules: {
      'no-restricted-imports': forbid([
        testsOnly,
        {
          regex: '^(?!@temporalio/|\\./)',
          allowTypeImports: true,
          message: 'A workflow is deterministic: it may use Temporal and its own folder only.',
        },
      ]),
    },
  },
  {
    files: ['**/*.{cjs,mjs,js}'],
    rules: { '@typescript-eslint/no-require-imports': 'off', 'no-restricted-syntax': 'off' },
  },
  { files: ['*.config.{mjs,cjs}', '**/*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
