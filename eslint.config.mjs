import { readdirSync } from 'node:fs';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const services = readdirSync(new URL('apps', import.meta.url));

/** What a service stands on. */
const serviceLibraries = [
  'type:kernel',
  'type:contracts',
  'type:http',
  'type:exchange',
  'type:clients',
  'type:runtime',
  'type:proto',
];

const typeConstraints = [
  {
    sourceTag: 'type:kernel',
    onlyDependOnLibsWithTags: ['type:kernel'],
    allowedExternalImports: ['zod', 'uuid', 'intl-messageformat', 'fast-check'],
  },
  {
    sourceTag: 'type:contracts',
    onlyDependOnLibsWithTags: ['type:contracts', 'type:kernel'],
    allowedExternalImports: ['zod', 'fast-check'],
  },
  { sourceTag: 'type:proto', onlyDependOnLibsWithTags: ['type:proto', 'type:kernel'] },
  { sourceTag: 'type:runtime', onlyDependOnLibsWithTags: ['type:runtime', 'type:kernel'] },
  {
    sourceTag: 'type:http',
    onlyDependOnLibsWithTags: ['type:http', 'type:contracts', 'type:kernel', 'type:runtime'],
  },
  {
    sourceTag: 'type:clients',
    onlyDependOnLibsWithTags: ['type:clients', 'type:contracts', 'type:kernel', 'type:proto', 'type:runtime'],
  },
  {
    sourceTag: 'type:exchange',
    onlyDependOnLibsWithTags: [
      'type:exchange',
      'type:contracts',
      'type:kernel',
      'type:proto',
      'type:runtime',
    ],
  },
  { sourceTag: 'type:sdk', onlyDependOnLibsWithTags: ['type:sdk', 'type:kernel', 'type:contracts'] },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: [...serviceLibraries, 'type:testing'],
  },
  // What runs in browsers uses the public interface only.
  { sourceTag: 'type:web', onlyDependOnLibsWithTags: ['type:sdk', 'type:contracts', 'type:kernel'] },
  // What runs on the machines of people, too.
  { sourceTag: 'type:cli', onlyDependOnLibsWithTags: ['type:sdk', 'type:contracts', 'type:kernel'] },
  // Specs of a library that need servers: a project of their own, since libs/testing stands on the library.
  {
    sourceTag: 'type:test',
    onlyDependOnLibsWithTags: ['type:test', 'type:testing', ...serviceLibraries],
  },
  {
    sourceTag: 'type:testing',
    onlyDependOnLibsWithTags: ['type:testing', ...serviceLibraries, 'type:sdk'],
  },
  // What develops, releases, operates and verifies the platform stands on the libraries and beside the services.
  {
    sourceTag: 'type:tool',
    onlyDependOnLibsWithTags: ['type:tool', 'type:test', 'type:testing', ...serviceLibraries, 'type:sdk'],
  },
];

const scopeConstraints = services.map((service) => ({
  sourceTag: `scope:${service}`,
  onlyDependOnLibsWithTags: [`scope:${service}`, 'scope:shared'],
}));

/** @param {string[]} allow imports that need no alias */
const boundaries = (allow) => ({
  '@nx/enforce-module-boundaries': [
    'error',
    {
      allow,
      enforceBuildableLibDependency: false,
      depConstraints: [...typeConstraints, ...scopeConstraints],
    },
  ],
});

const forbid = (patterns) => ['error', { patterns }];
const databases = ['@prisma/*', 'pg', 'pg-copy-streams'];
const testsOnly = { group: ['@plinth/testing/*'], message: 'libs/testing is for specs only.' };

export default tseslint.config(
  { ignores: ['**/node_modules', '**/dist', '**/generated', '.plinth', '.nx'] },
  ...tseslint.configs.recommended,
  { files: ['**/*.{ts,tsx,mts,mjs}'], plugins: { '@nx': nx }, rules: boundaries([]) },
  // Node runs the tools as they are, without our aliases: one tool imports another by its path.
  { files: ['tools/**/*.{ts,mjs}'], rules: boundaries(['^(\\.\\./){1,2}\\w']) },
  // How well data exchange maps the fields of other services, and whether alerts see what the gateway measures.
  {
    files: ['tools/verification/{mappings,manifests}/*.ts'],
    rules: boundaries(['^(\\.\\./){1,2}\\w', '^(\\.\\./){3}apps/']),
  },
  {
    files: ['**/*.{ts,tsx,mts}'],
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use an `as const` object.' },
        { selector: 'ExportDefaultDeclaration', message: 'Exports have names (ADR 0008).' },
        {
          selector:
            'Identifier[name=/^([aA]sker|[fF]acts?|hearOn\\w*|[lL]anes?|[mM]ortal\\w*|putBack|[sS]iblings?|[sS]tandIns?|[tT]eller|told|tell[A-Z]\\w*|Told\\w*|\\w+Told([A-Z]\\w*)?|[wW]hereabouts)$/]',
          message: 'docs/glossary.md has the standard term.',
        },
        // On a busy machine a short one fails a test that only waits. One that follows from a size is a named constant.
        ...[
          '[callee.name=/^(it|(before|after)(All|Each)|eventually)$/]',
          '[callee.callee.property.name="each"]',
        ].map((call) => ({
          selector: `CallExpression${call} > Literal[value>=1000]`,
          message: 'The bound of what hangs is in jest.unit.config.cjs and in eventually().',
        })),
        // The specs of a project run in one file of jest, which would skip all of the others.
        ...[
          'MemberExpression[property.name="only"]:matches([object.name=/^(it|test|describe)$/], [object.property.name="concurrent"])',
          'CallExpression[callee.name=/^f(it|describe)$/]',
        ].map((selector) => ({ selector, message: 'It skips the other specs of its project.' })),
      ],
    },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/testing/**'],
    rules: { 'no-restricted-imports': forbid([testsOnly]) },
  },
  // A text of a stranger can have so many combining marks in a row that normalizing takes minutes.
  {
    files: ['apps/*/src/**/*.{ts,tsx}', 'libs/*/src/**/*.ts', 'tools/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/kernel/src/composed.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { property: 'normalize', message: 'Use composed() or plain() of @plinth/kernel/composed.' },
      ],
    },
  },
  { files: ['apps/console/src/**/*.{ts,tsx}'], ...reactHooks.configs.flat.recommended },
  // The rooms of a service (docs/architecture.md). The gateway has no tables and no domain, so it has rooms of its own.
  ...Object.entries({
    domain: {
      packages: ['express', '@nats-io/*', 'ioredis', '@grpc/*', '@temporalio/*', ...databases],
      rooms: ['app', 'events', 'exchange', 'generated', 'grpc', 'routes', 'store', 'temporal'],
      message: 'The domain decides; it does not touch the world.',
    },
    store: {
      packages: ['express'],
      rooms: ['app', 'exchange', 'grpc', 'routes', 'temporal'],
      message: 'A store knows its tables, the domain and the events it publishes.',
    },
    app: {
      packages: databases,
      rooms: ['generated', 'routes'],
      message: 'A use case calls stores; SQL is in store/.',
    },
    routes: {
      packages: databases,
      rooms: ['generated', 'grpc', 'temporal'],
      message: 'A handler calls a store or a use case.',
    },
    exchange: {
      packages: databases,
      rooms: ['generated', 'routes', 'temporal'],
      message: 'A definition of import and export calls a store; SQL is in store/.',
    },
    grpc: {
      packages: databases,
      rooms: ['generated', 'routes', 'temporal'],
      message: 'gRPC is translated here; SQL is in store/, decisions are in domain/.',
    },
    events: {
      packages: ['express'],
      rooms: ['grpc', 'routes', 'temporal'],
      message: 'Events are published and processed through stores and use cases.',
    },
  }).map(([room, { packages, rooms, message }]) => ({
    files: [`apps/*/src/${room}/**/*.ts`],
    ignores: ['**/*.spec.ts', 'apps/gateway/**'],
    rules: {
      'no-restricted-imports': forbid([
        testsOnly,
        { group: packages, message },
        { regex: `^(\\.\\./)+(${rooms.join('|')})/`, message },
      ]),
    },
  })),
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
