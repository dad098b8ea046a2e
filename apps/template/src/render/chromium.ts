import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Browser } from 'puppeteer-core';
import type { Log } from '@plinth/runtime/log';

const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** How well the browser is cut off from the world. */
export type Isolation =
  /** No network and no files of the host: namespaces of its own, by bubblewrap. */
  | 'sealed'
  /** No network: a network namespace of its own. */
  | 'networkless'
  /** The host gives no namespace: requests are refused inside the browser. */
  | 'intercepted';

export interface ChromiumOptions {
  executable: string | undefined;
  isProduction: boolean;
}

export interface Chromium {
  isolation: Isolation;
  launch(): Promise<Browser>;
}

/** The arguments that keep a browser from the network by its own means, whatever the host gives. */
const inwardArguments = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://127.0.0.1:1',
  '--proxy-bypass-list=<-loopback>',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-remote-fonts-from-file-urls',
  '--block-new-web-contents',
  '--dns-prefetch-disable',
  '--no-pings',
  '--disable-webrtc',
  '--font-render-hinting=none',
];

const NOBODY = 65_534;
const PROFILE = '/tmp/profile';

/**
 * Finds the browser and the strongest cage that this host allows; the cage is tried, not assumed.
 * Answers undefined where there is no browser.
 */
export function findChromium({ executable, isProduction }: ChromiumOptions, log: Log): Chromium | undefined {
  const program = executable ?? usualPaths.find((path) => existsSync(path));
  if (!program || !existsSync(program)) return undefined;
  const cages = [bubblewrap(), unshare()];
  const cage = cages.find(({ command }) => works(command));
  const isolation = cage?.isolation ?? 'intercepted';
  if (isolation === 'intercepted') {
    log.warn(
      'THE BROWSER THAT PRINTS PDF HAS A NETWORK: this host gives no network namespace. Requests are refused inside the browser only. Allow unprivileged user namespaces, or install bubblewrap, or deny the pod all egress.',
    );
  }
  return {
    isolation,
    launch: async () => {
      const { defaultArgs } = await import('puppeteer-core');
      const inside = await defaultArgs({ headless: true, userDataDir: PROFILE, args: inwardArguments });
      const sandboxed = [...inside, '--remote-debugging-pipe'];
      try {
        return await start(cage?.command ?? outsider(), program, sandboxed);
      } catch (error) {
        // Chromium's own sandbox is never given up in production: then there is no PDF.
        if (isProduction || isolation !== 'sealed') throw error;
        log.warn(
          { err: error },
          'Chromium does not start with its own sandbox on this host; for development it runs without it, inside bubblewrap',
        );
        return start(cage!.command, program, [...sandboxed, '--no-sandbox']);
      }
    },
  };
}

const LAUNCH_MILLISECONDS_MAX = 30_000;

const start = async ([program, ...before]: string[], chromium: string, args: string[]): Promise<Browser> => {
  const { launch } = await import('puppeteer-core');
  return launch({
    executablePath: program!,
    args: [...before, chromium, ...args],
    ignoreDefaultArgs: true,
    pipe: true,
    timeout: LAUNCH_MILLISECONDS_MAX,
    env: { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
};

interface Cage {
  isolation: Isolation;
  command: string[];
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Root would be refused by Chromium, and has no business in a browser. */
const outsider = (): string[] =>
  isRoot()
    ? ['/usr/bin/setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']
    : ['/usr/bin/env'];

/** Namespaces of its own for everything, and of the host's files only programs, libraries and fonts. */
function bubblewrap(): Cage {
  const readable = [
    '/usr',
    '/opt',
    '/etc/fonts',
    '/etc/chromium',
    '/etc/chromium.d',
    '/etc/alternatives',
    '/etc/ld.so.cache',
    '/etc/ld.so.conf',
    '/etc/ld.so.conf.d',
    '/var/cache/fontconfig',
  ].flatMap((path) => ['--ro-bind-try', path, path]);
  const roots = ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => [
    '--symlink',
    `usr/${name}`,
    `/${name}`,
  ]);
  return {
    isolation: 'sealed',
    command: [
      ...outsider(),
      'bwrap',
      ...['--unshare-user', '--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
      ...['--die-with-parent', '--new-session'],
      ...readable,
      ...roots,
      ...[
        '--proc',
        '/proc',
        '--dev',
        '/dev',
        '--tmpfs',
        '/dev/shm',
        '--tmpfs',
        '/tmp',
        '--setenv',
        'HOME',
        '/tmp',
      ],
      '--',
    ],
  };
}

const unshare = (): Cage => ({
  isolation: 'networkless',
  command: [
    ...outsider(),
    'unshare',
    '--user',
    '--map-current-user',
    '--net',
    '--kill-child',
    '--fork',
    '--',
  ],
});

const works = ([program, ...args]: string[]): boolean =>
  spawnSync(program!, [...args, 'true'], { stdio: 'ignore', timeout: 10_000, env: { PATH: '/usr/bin:/bin' } })
    .status === 0;
