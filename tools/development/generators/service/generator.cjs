const { join } = require('node:path');
const { formatFiles, generateFiles } = require('@nx/devkit');
const { edit, afterLast, beforeFirst } = require('../edits.cjs');
const { namesOf } = require('../names.cjs');

/** @typedef {ReturnType<typeof namesOf>} Names */

/**
 * `nx g @plinth/generators:service NAME`: a service that starts, is routed, stores entities in its own tables,
 * publishes events, and has tests, an image and manifests. Its team replaces the nouns and goes on from there.
 * @param {import('@nx/devkit').Tree} tree
 * @param {{ name: string, entity?: string, team?: string }} options
 */
async function service(tree, { name, entity, team = 'platform' }) {
  const names = namesOf(name, entity);
  if (tree.exists(`apps/${name}`)) throw new Error(`apps/${name} is there already.`);
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  generateFiles(tree, join(__dirname, 'files'), '.', {
    ...names,
    stamp,
    tmpl: '',
  });
  joinContracts(tree, names);
  addTexts(tree, names);
  joinCompose(tree, names);
  joinKubernetes(tree, names);
  const owners = tree.exists('CODEOWNERS') ? tree.read('CODEOWNERS', 'utf8') : '';
  tree.write(
    'CODEOWNERS',
    `${owners}/apps/${name}/ @plinth/${team}\n/libs/contracts/src/${name}/ @plinth/${team}\n`,
  );
  await formatFiles(tree);
  return () =>
    console.log(
      `\nNow: npx nx sync && npm run generate && npm run openapi && npm run docs:configuration && npx jest apps/${name}\n`,
    );
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function joinContracts(tree, { service, serviceVar, Service, entity, entityWords }) {
  edit(tree, 'libs/contracts/src/all.ts', (text) => {
    const imported = afterLast(
      text,
      /^import .*;$/,
      `\nimport { ${serviceVar}Endpoints } from './${service}/endpoints';\nimport { ${serviceVar}Problems } from './${service}/problems';`,
    );
    return imported
      .replace(
        '} satisfies Record<string, Endpoints>',
        `  '${service}': ${serviceVar}Endpoints,\n} satisfies Record<string, Endpoints>`,
      )
      .replace(/\n};\s*$/, `\n  ...${serviceVar}Problems,\n};\n`);
  });
  edit(tree, 'libs/contracts/src/events.ts', (text) =>
    afterLast(text, /^import .*;$/, `\nimport { ${serviceVar}Events } from './${service}/events';`).replace(
      /\n\];\s*$/,
      `\n  ...Object.values(${serviceVar}Events),\n];\n`,
    ),
  );
  edit(tree, 'docs/events.md', (text) =>
    afterLast(
      text,
      /^\| `[a-z.-]+` .*$/,
      `\n| \`${service}.${entity}-created\` | a ${entityWords} was created | |\n| \`${service}.${entity}-deleted\` | a ${entityWords} was deleted | |`,
    ),
  );
  edit(tree, 'libs/contracts/src/permissions.ts', (text) =>
    text.replace(
      '\n] as const;',
      `\n  '${Service}.${Service}.Read',\n  '${Service}.${Service}.Manage',\n] as const;`,
    ),
  );
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function addTexts(tree, { Service, entity, entityWords, EntityWords, serviceWords }) {
  const texts = {
    en: {
      read: `See ${serviceWords}`,
      manage: `Create and delete ${serviceWords}`,
      missing: `${EntityWords} not found`,
    },
    fr: {
      read: `Voir : ${serviceWords}`,
      manage: `Créer et supprimer : ${serviceWords}`,
      missing: `Introuvable : ${entityWords}`,
    },
  };
  for (const [culture, { read, manage, missing }] of Object.entries(texts)) {
    // French puts a space that does not break before a colon.
    const spaced = (/** @type {string} */ text) => text.replaceAll(' :', '\u00a0:');
    json(tree, `apps/localization/src/resources/permissions/${culture}.json`, (file) => {
      file.texts[Service] = { [Service]: { Read: spaced(read), Manage: spaced(manage) } };
    });
    json(tree, `apps/localization/src/resources/problems/${culture}.json`, (file) => {
      holderOf(file.texts, 'setting-locked')[`${entity}-not-found`] = spaced(missing);
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
function joinCompose(tree, { service, SERVICE, service_ }) {
  edit(tree, 'docker-compose.yml', (text) =>
    beforeFirst(
      text
        .replace(/^( {2}HTTP_SERVICES: .*)$/m, `$1,${service}=http://${service}:8080`)
        .replace(/^( {2}GRPC_SERVICES: .*)$/m, `$1,${service}=${service}:9090`)
        .replace(
          /^( {2}DATABASE_URL_WORKFLOW: .*)$/m,
          `$1\n  DATABASE_URL_${SERVICE}: &${service}-database postgres://plinth_${service_}_app:development@postgres/plinth_${service_}`,
        )
        .replace(
          /^( {6}NATS_PASSWORD_WORKFLOW: .*)$/m,
          `$1\n      NATS_PASSWORD_${SERVICE}: development-${service}`,
        ),
      // What comes behind the services.
      /^networks:$/,
      `  ${service}:\n    <<: *service\n    image: plinth/${service}:0.1.0\n    build: { args: { SERVICE: ${service} } }\n    environment:\n      <<: *service-environment\n      DATABASE_URL_${SERVICE}: *${service}-database\n      NATS_USER: ${service}\n      NATS_PASSWORD: development-${service}\n\n`,
    ),
  );
  edit(tree, 'docker-compose.tls.yml', (text) =>
    beforeFirst(
      text.replace(
        /^( {2}DATABASE_URL_WORKFLOW: .*)$/m,
        `$1\n  DATABASE_URL_${SERVICE}: &${service}-database postgres://plinth_${service_}_app:development@postgres/plinth_${service_}?sslmode=verify-full&sslrootcert=/var/run/plinth/certificates/authority.pem`,
      ),
      /^networks:$/,
      `  ${service}:\n    <<: *service\n    environment: { <<: *service-environment, DATABASE_URL_${SERVICE}: *${service}-database }\n\n`,
    ),
  );
  edit(tree, 'k8s/components/monitoring/compose/prometheus.yml', (text) =>
    beforeFirst(
      text,
      /^ {6}- \{ targets: \['pdf-renderer-metrics:/,
      `      - { targets: ['${service}:9091'], labels: { service: ${service}-grpc } }\n`,
    ),
  );
}

/** @param {import('@nx/devkit').Tree} tree @param {Names} names */
function joinKubernetes(tree, { service, SERVICE, service_ }) {
  edit(tree, 'k8s/base/kustomization.yaml', (text) =>
    text.replace('  - workflow\n', `  - workflow\n  - ${service}\n`),
  );
  edit(tree, 'k8s/base/plinth.env', (text) =>
    text
      .replace(/^(HTTP_SERVICES=.*)$/m, `$1,${service}=http://${service}-http:8080`)
      .replace(/^(GRPC_SERVICES=.*)$/m, `$1,${service}=${service}-grpc:9090`),
  );
  edit(tree, 'k8s/nats/plinth.conf', (text) =>
    // As the user of another service, up to the end of the list.
    text.replace(
      /( {4}\{\n {6}user: settings,[\s\S]*?\n {4}\}\n)([\s\S]*?)( {2}\]\n\}\n)$/,
      (_all, user, others, end) =>
        [user, others, user.replaceAll('settings', service).replaceAll('SETTINGS', SERVICE), end].join(''),
    ),
  );
  edit(tree, 'k8s/base/migrate.yaml', (text) => {
    const withVariable = afterLast(
      text,
      /^ +- .*DATABASE_URL_WORKFLOW_FILE.*$/,
      `\n            - { name: DATABASE_URL_${SERVICE}_FILE, value: /var/run/plinth/${service}/url }`,
    );
    const withMount = afterLast(
      withVariable,
      /^ +- .*mountPath: \/var\/run\/plinth\/workflow,.*$/,
      `\n            - { name: ${service}, mountPath: /var/run/plinth/${service}, readOnly: true }`,
    );
    return `${withMount.trimEnd()}\n        - name: ${service}\n          secret: { secretName: ${service}-database, defaultMode: 0440 }\n`;
  });
  edit(tree, 'k8s/overlays/dev/kustomization.yaml', (text) =>
    beforeFirst(
      text,
      /^patches:$/,
      `  - name: ${service}-database\n    literals: ['url=postgres://plinth_${service_}_app:development@postgres/plinth_${service_}', nats=development-only]\n`,
    ),
  );
  edit(tree, 'k8s/overlays/production/kustomization.yaml', (text) =>
    beforeFirst(
      text,
      /^patches:$/,
      `  - { name: plinth/${service}, newName: registry.example/plinth/${service}, newTag: 0.1.0 }\n`,
    ),
  );
  edit(tree, 'k8s/README.md', (text) =>
    afterLast(
      text,
      /^\| `workflow-database` .*$/,
      `\n| \`${service}-database\` | \`url\`, \`nats\` | As above. |`,
    ),
  );
}

module.exports = service;
