import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../../development/launcher/paths.mjs';
import { closureOf, packagesAskedFor, type Package } from './packages.ts';
import { billOfMaterials } from './sbom.ts';

/** The image that migrates the databases. */
const MIGRATE = 'migrate';

/**
 * `node tools/release/images/assemble.ts IMAGE FOLDER`: puts everything into the folder that the image of a service holds
 * beside Node.js, and nothing else: what was built, the packages that it requires, and a list of these. The
 * Dockerfile copies this folder.
 */
function main(image = '', folder = '') {
  if (image === '' || folder === '')
    throw new Error('usage: node tools/release/images/assemble.ts IMAGE FOLDER');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const asked = image === MIGRATE ? copyMigrations(folder) : copyService(image, folder);
  const packages = closureOf(root, asked);
  for (const one of packages) copyPackage(one, folder);
  copyFileSync(join(root, 'tools/release/images/healthcheck.mjs'), join(folder, 'healthcheck.mjs'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const sbom = billOfMaterials(image, version, packages);
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${image}: ${packages.length} packages`);
}

/** @returns the packages that the bundles require */
function copyService(service: string, folder: string): string[] {
  const built = join(root, 'dist/apps', service);
  if (!existsSync(join(built, 'main.js'))) throw new Error(`${service} is not built: run \`npm run build\`.`);
  cpSync(built, folder, { recursive: true });
  if (service === 'gateway') for (const name of ['console', 'reference']) copyWebFiles(name, folder);
  // The bundle of the workflows runs in a sandbox and contains everything it needs.
  const bundles = readdirSync(built).filter((name) => name.endsWith('.js') && name !== 'workflows.js');
  return [...new Set(bundles.flatMap((name) => packagesAskedFor(readFileSync(join(built, name), 'utf8'))))];
}

/** The gateway serves what runs in browsers. */
function copyWebFiles(application: string, folder: string) {
  const built = join(root, 'dist/apps', application);
  if (!existsSync(built)) throw new Error(`${application} is not built: run \`npm run build\`.`);
  cpSync(built, join(folder, application), { recursive: true });
}

function copyMigrations(folder: string): string[] {
  const services = readdirSync(join(root, 'apps')).filter((name) =>
    existsSync(join(root, 'apps', name, 'prisma')),
  );
  const sources = [
    ...['migrate', 'migrate-service', 'access-from-environment', 'apply-migrations', 'grant-access'],
    ...['index-statements', 'migration-error', 'provision', 'release', 'sql-statements', 'text-of-variable'],
  ].map((name) => `tools/operations/migrate/${name}.ts`);
  const platform = ['libs/runtime/migrations', 'libs/exchange/migrations'];
  const development = [
    ...['paths', 'run', 'services'].map((name) => `launcher/${name}.mjs`),
    'build/migration-files.ts',
  ].map((path) => `tools/development/${path}`);
  const released = 'tools/operations/migrate/released-0.1.0.json';
  const own = services.map((name) => `apps/${name}/prisma`);
  for (const path of [...sources, released, ...development, ...platform, ...own]) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'main.js'), "import './tools/operations/migrate/migrate.ts';\n");
  return ['pg'];
}

function copyPackage({ place }: Package, folder: string) {
  const from = join(root, place);
  for (const path of filesOf(from)) {
    const target = join(folder, place, relative(from, path));
    mkdirSync(dirname(target), { recursive: true });
    linkOrCopy(path, target);
  }
}

const foreignSystem = /^(aarch64|x86_64)-(apple|unknown|pc)-/;
const thisSystem = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
/** The packages below one are copied as packages. */
const unneededFolders = ['node_modules', 'test', 'tests', '__tests__', 'spec', 'specs', '.github'];
/** Types, source maps, documentation, and Prisma's files for other databases than PostgreSQL. */
const unneeded = /(\.([cm]?tsx?|map|md|markdown)|\.(mysql|sqlite|sqlserver|cockroachdb)\.[\w.-]+)$/i;

/** The files of one package, without those that are not used at run time. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return isNeeded(entry.name) ? [path] : [];
    const isOfAnotherSystem = foreignSystem.test(entry.name) && entry.name !== thisSystem;
    return unneededFolders.includes(entry.name) || isOfAnotherSystem ? [] : filesOf(path);
  });
}

const isNeeded = (name: string) => !unneeded.test(name) || /^licen[cs]e/i.test(name);

/** Packages do not change: where the file system allows it, a hard link is enough. */
function linkOrCopy(from: string, to: string) {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

try {
  main(...process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
