const { join } = require('node:path');
const { formatFiles, generateFiles } = require('@nx/devkit');
const { edit, afterLast } = require('../edits.cjs');
const { camel, pascal, words } = require('../names.cjs');

/**
 * `nx g @plinth/generators:endpoint SERVICE NAME`: a GET endpoint that works from its first moment: contract, route,
 * test and documentation, each in its place.
 * @param {import('@nx/devkit').Tree} tree
 * @param {{ service: string, name: string, path?: string, permission?: string }} options
 */
async function endpoint(tree, { service, name, path, permission }) {
  const contracts = `libs/contracts/src/${service}`;
  if (!tree.exists(`${contracts}/endpoints.ts`))
    throw new Error(`There is no contract of a service ${service}.`);
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const noun = kebab.replace(/^get-/, '');
  const names = {
    service,
    Service: pascal(service),
    serviceVar: camel(service),
    name,
    Name: pascal(kebab),
    noun,
    Noun: pascal(noun),
    path: path ?? `/${service}/${noun}`,
    access: permission ? `permission('${permission}')` : 'authenticated',
  };
  if ((tree.read(`${contracts}/endpoints.ts`, 'utf8') ?? '').includes(`const ${name} =`)) {
    throw new Error(`${service} has an endpoint ${name} already.`);
  }
  if (tree.exists(`apps/${service}/src/routes/${noun}.ts`)) {
    throw new Error(`${service} has a file routes/${noun}.ts already; add the endpoint there.`);
  }
  extendContract(tree, contracts, names);
  generateFiles(tree, join(__dirname, 'files'), `apps/${service}`, { ...names, tmpl: '' });
  edit(tree, `apps/${service}/src/app.ts`, (text) =>
    afterLast(text, /^import .*;$/, `\nimport { mount${names.Noun} } from './routes/${noun}';`).replace(
      /((?:createService|service)\([^]*?\(api\) => \{\n)/,
      `$1    mount${names.Noun}(api);\n`,
    ),
  );
  document(tree, names);
  await formatFiles(tree);
  return () => console.log(`\nNow: npm run openapi && npx jest apps/${service}/test/${noun}\n`);
}

/** @param {import('@nx/devkit').Tree} tree @param {string} contracts @param {Record<string, string>} names */
function extendContract(tree, contracts, { serviceVar, name, Name, noun, path, access }) {
  edit(
    tree,
    `${contracts}/shapes.ts`,
    (text) =>
      `${text}\nexport const ${Name}Response = z.object({ userName: z.string() }).meta({ id: '${Name}Response' });\n`,
  );
  edit(tree, `${contracts}/endpoints.ts`, (text) => {
    const word = access.split('(')[0];
    const declared = `const ${name} = endpoint({
  method: 'GET',
  path: '${path}',
  summary: 'Read the ${words(noun)}',
  access: ${access},
  success: { status: 200, body: ${Name}Response },
  cache: 'user-data',
});

`;
    return withImport(withImport(text, '../endpoint', String(word)), './shapes', `${Name}Response`).replace(
      new RegExp(`^export const ${serviceVar}Endpoints = \\{`, 'm'),
      `${declared}$&\n  ${name},`,
    );
  });
}

/** Adds a name to the import from a module. @param {string} text @param {string} module @param {string} name */
function withImport(text, module, name) {
  const pattern = new RegExp(`import \\{([^}]*)\\} from '${module}';`);
  const names =
    pattern
      .exec(text)?.[1]
      ?.split(',')
      .map((one) => one.trim()) ?? [];
  if (names.includes(name)) return text;
  return text.replace(
    pattern,
    (_, list) => `import {${list.replace(/,?\s*$/, '')}, ${name} } from '${module}';`,
  );
}

/** @param {import('@nx/devkit').Tree} tree @param {Record<string, string>} names */
function document(tree, { service, Service, path, name }) {
  const pages = [`docs/areas/${service}.md`, `docs/areas/${service}s.md`];
  const page = pages.find((one) => tree.exists(one)) ?? pages[0];
  const before = tree.exists(page) ? (tree.read(page, 'utf8') ?? '') : `# ${Service}\n`;
  tree.write(
    page,
    `${before.trimEnd()}\n\n## ${name}\n\n\`\`\`sh\ncurl "$BASE/api/v1${path}" -H "Authorization: Bearer $TOKEN"\n\`\`\`\n`,
  );
}

module.exports = endpoint;
