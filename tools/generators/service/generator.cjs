const { join } = require('node:path');
const { formatFiles, generateFiles } = require('@nx/devkit');
const { edit, afterLast, beforeFirst } = require('../edits.cjs');
const { namesOf } = require('../names.cjs');

/** @typedef {ReturnType<typeof namesOf>} Names */

/**
 * `nx g @plinth/generators:service NAME`: a service that starts, is routed, keeps things in its own tables, tells
 * facts, and has tests, an image and manifests. Its teams replace the nouns and go on from there.
 * @param {import('@nx/devkit').Tree} tree
 * @param {{ name: string, entity?: string, team?: string }} options
 */
async function service(tree, { name, entity, team = 'platform' }) {
  const names = namesOf(name, entity);
  if (tree.exists(`apps/${name}`)) throw new Error(`apps/${name} is there already.`);
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  generateFiles(tree, join(__dirname, 'files'), '.', {
    ...names,
    messagingSql: ['messaging', 'traced-facts']
      .map((name) => tree.read(`libs/runtime/sql/${name}.sql`, 'utf8'))
      .join('\n'),
    stamp,
    tmpl: '',
  });
  joinContracts(tree, names);
  nameInTexts(tree, names);
  joinCompose(tree, names);
  joinKubernetes(tree, names);
  edit(tree, 'eslint.config.mjs', (text) =>
    text.replace(/(const services = \[[^\]]*?),?(\s*\])/, `$1, '${name}'$2`),
  );
  const owners = tree.exists('CODEOWNERS') ? tree.read('CODEOWNERS', 'utf8') : '';
  tree.write(
    'CODEOWNERS',
    `${owners}/apps/${name}/ @plinth/${team}\n/libs/contracts/src/${name}/ @plinth/${team}\n`,
  );
  await formatFiles(tree);
  return () =>
    console.log(
      `\nNow: npm run generate && npm run openapi && npm run docs:configuration && npx jest apps/${name}\n`,
    );
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function joinContracts(tree, { area, areaVar, Area, entity, entityWords }) {
  edit(tree, 'libs/contracts/src/all.ts', (text) => {
    const imported = afterLast(
      text,
      /^import .*;$/,
      `\nimport { ${areaVar}Endpoints } from './${area}/endpoints';\nimport { ${areaVar}Problems } from './${area}/problems';`,
    );
    return imported
      .replace(
        '} satisfies Record<string, Endpoints>',
        `  '${area}': ${areaVar}Endpoints,\n} satisfies Record<string, Endpoints>`,
      )
      .replace(/\n};\s*$/, `\n  ...${areaVar}Problems,\n};\n`);
  });
  edit(tree, 'libs/contracts/src/events.ts', (text) =>
    afterLast(text, /^import .*;$/, `\nimport { ${areaVar}Events } from './${area}/events';`).replace(
      /\n\];\s*$/,
      `\n  ...Object.values(${areaVar}Events),\n];\n`,
    ),
  );
  edit(tree, 'docs/events.md', (text) =>
    afterLast(
      text,
      /^\| `[a-z.-]+` .*$/,
      `\n| \`${area}.${entity}-created\` | there is a new ${entityWords} | |\n| \`${area}.${entity}-deleted\` | a ${entityWords} is gone | |`,
    ),
  );
  edit(tree, 'libs/contracts/src/permissions.ts', (text) =>
    text.replace('\n] as const;', `\n  '${Area}.${Area}.Read',\n  '${Area}.${Area}.Manage',\n] as const;`),
  );
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function nameInTexts(tree, { Area, entity, entityWords, areaWords }) {
  const sayings = {
    en: {
      read: `See ${areaWords}`,
      manage: `Create and delete ${areaWords}`,
      missing: `No such ${entityWords}`,
    },
    fr: {
      read: `Voir : ${areaWords}`,
      manage: `Créer et supprimer : ${areaWords}`,
      missing: `Introuvable : ${entityWords}`,
    },
  };
  for (const [culture, { read, manage, missing }] of Object.entries(sayings)) {
    const say = (/** @type {string} */ text) => text.replaceAll(' :', '\u00a0:');
    json(tree, `apps/localization/src/resources/permissions/${culture}.json`, (file) => {
      file.texts[Area] = { [Area]: { Read: say(read), Manage: say(manage) } };
    });
    json(tree, `apps/localization/src/resources/problems/${culture}.json`, (file) => {
      holderOf(file.texts, 'setting-locked')[`${entity}-not-found`] = say(missing);
    });
  }
}

/**
 * The group of texts that has a key of this name.
 * @param {Record<string, any>} texts
 * @param {string} key
 * @returns {Record<string, any>}
 */
function holderOf(texts, key) {
  if (key in texts) return texts;
  for (const group of Object.values(texts)) {
    if (typeof group === 'object' && key in group) return group;
  }
  throw new Error(`There is no text ${key}.`);
}

/** @param {import('@nx/devkit').Tree} tree @param {string} path @param {(file: any) => void} change */
function json(tree, path, change) {
  edit(tree, path, (text) => {
    const file = JSON.parse(text);
    change(file);
    return `${JSON.stringify(file, null, 2)}\n`;
  });
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function joinCompose(tree, { area, AREA, area_ }) {
  edit(tree, 'docker-compose.yml', (text) =>
    beforeFirst(
      text
        .replace(/^( {2}HTTP_SERVICES: .*)$/m, `$1,${area}=http://${area}:8080`)
        .replace(/^( {2}GRPC_SERVICES: .*)$/m, `$1,${area}=${area}:9090`)
        .replace(
          /^( {2}DATABASE_URL_WORKFLOW: .*)$/m,
          `$1\n  DATABASE_URL_${AREA}: postgres://plinth_${area_}_app:development@postgres/plinth_${area_}`,
        ),
      /^volumes:$/,
      `  ${area}:\n    <<: *service\n    image: plinth/${area}:0.1.0\n    build: { args: { SERVICE: ${area} } }\n\n`,
    ),
  );
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function joinKubernetes(tree, { area, AREA, area_ }) {
  edit(tree, 'k8s/base/kustomization.yaml', (text) =>
    text.replace('  - workflow\n', `  - workflow\n  - ${area}\n`),
  );
  edit(tree, 'k8s/base/plinth.env', (text) =>
    text
      .replace(/^(HTTP_SERVICES=.*)$/m, `$1,${area}=http://${area}-http:8080`)
      .replace(/^(GRPC_SERVICES=.*)$/m, `$1,${area}=${area}-grpc:9090`),
  );
  edit(tree, 'k8s/base/migrate.yaml', (text) => {
    const withVariable = afterLast(
      text,
      /^ +- .*DATABASE_URL_WORKFLOW_FILE.*$/,
      `\n            - { name: DATABASE_URL_${AREA}_FILE, value: /var/run/plinth/${area}/url }`,
    );
    const withMount = afterLast(
      withVariable,
      /^ +- .*mountPath: \/var\/run\/plinth\/workflow,.*$/,
      `\n            - { name: ${area}, mountPath: /var/run/plinth/${area}, readOnly: true }`,
    );
    return `${withMount.trimEnd()}\n        - name: ${area}\n          secret: { secretName: ${area}-database, defaultMode: 0440 }\n`;
  });
  edit(tree, 'k8s/overlays/dev/kustomization.yaml', (text) =>
    beforeFirst(
      text,
      /^patches:$/,
      `  - name: ${area}-database\n    literals: ['url=postgres://plinth_${area_}_app:development@postgres/plinth_${area_}']\n`,
    ),
  );
  edit(tree, 'k8s/overlays/production/kustomization.yaml', (text) =>
    beforeFirst(
      text,
      /^patches:$/,
      `  - { name: plinth/${area}, newName: registry.example/plinth/${area}, newTag: 0.1.0 }\n`,
    ),
  );
  edit(tree, 'k8s/README.md', (text) =>
    afterLast(text, /^\| `workflow-database` .*$/, `\n| \`${area}-database\` | \`url\` | As above. |`),
  );
}

module.exports = service;
