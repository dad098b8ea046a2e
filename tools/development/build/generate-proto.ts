import type * as Protobuf from 'protobufjs';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import { run } from '../launcher/run.mjs';
import { isNewer } from './is-newer.ts';

const protoFolder = join(root, 'libs', 'proto');
const folder = join(protoFolder, 'src', 'generated');

/** Written last: generated code without it is not complete. */
const marker = join(folder, '.complete');

/** Whether the generated code is older than the .proto files. */
export const isProtoOutdated = (): boolean =>
  !isNewer(
    marker,
    protoFiles().map((name) => join(protoFolder, name)),
  );

const protoFiles = (): string[] =>
  readdirSync(protoFolder)
    .filter((name) => name.endsWith('.proto'))
    .sort();

/** Makes types and descriptors of the .proto files. */
export async function generateProto(): Promise<void> {
  const files = protoFiles();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await Promise.all([writeTypes(files), writeDescriptors(files)]);
  writeFileSync(marker, '');
}

function writeTypes(files: string[]) {
  const require = createRequire(import.meta.url);
  const generator = require.resolve('@grpc/proto-loader/build/bin/proto-loader-gen-types.js');
  const options = ['--longs=Number', '--enums=String', '--defaults', '--oneofs', '--grpcLib=@grpc/grpc-js'];
  const places = [`--includeDirs=${protoFolder}`, `--outDir=${folder}`];
  return run(process.execPath, [generator, ...options, ...places, ...files], {
    name: 'proto-loader-gen-types',
  });
}

/** The messages and services as data, so that a bundled service needs no .proto file beside it. */
async function writeDescriptors(files: string[]) {
  // The copy of protobufjs that will read them again.
  const require = createRequire(createRequire(import.meta.url).resolve('@grpc/proto-loader'));
  const { Root } = require('protobufjs') as typeof Protobuf;
  const schema = new Root();
  schema.resolvePath = (_origin, target) =>
    existsSync(join(protoFolder, target)) ? join(protoFolder, target) : target;
  await schema.load(files, { keepCase: false });
  const json = JSON.stringify(schema.toJSON(), null, 2);
  writeFileSync(join(folder, 'descriptors.ts'), `export const descriptors = ${json};\n`);
}
