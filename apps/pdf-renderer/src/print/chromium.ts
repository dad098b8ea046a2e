import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Browser } from 'puppeteer-core';
import type { Log } from '@plinth/runtime/process/log';

const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** How well the browser is isolated from the network and the host. */
export type Isolation =
  /** No network and no files of the host: namespaces of its own, by bubblewrap. */
  | 'sealed'
  /** No network: a network namespace of its own. */
  | 'networkless'
  /** The host gives no namespaces: requests are refused inside the browser only. */
  | 'intercepted';

export interface ChromiumOptions {
  executable: string | undefined;
  isProduction: boolean;
}

export interface Chromium {
  isolation: Isolation;
  launch(): Promise<Browser>;
}

/** The arguments that keep a browser from the network by its own means, with or without namespaces. */
const offlineArguments = [
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

const NOBODY_ID = 65_534;
const PROFILE = '/tmp/profile';

/**
 * Finds the browser and the strongest isolation that works on this host.
 * Returns undefined where there is no browser.
 */
export function findChromium({ executable, isProduction }: ChromiumOptions, log: Log): Chromium | undefined {
  const program = executable ?? usualPaths.find((path) => existsSync(path));
  if (!program || !existsSync(program)) return undefined;
  const launchers = [bubblewrap(program), unshare()];
  const launcher = launchers.find(({ command }) => works(command));
  const isolation = launcher?.isolation ?? 'intercepted';
  if (isolation === 'intercepted') {
    log.warn(
      'CHROMIUM HAS NETWORK ACCESS: this host has no network namespaces, so requests are refused inside the browser only. Allow unprivileged user namespaces, install bubblewrap, or deny the pod all egress.',
    );
  }
  return {
    isolation,
    launch: async () => {
      const { defaultArgs } = await import('puppeteer-core');
      const inside = await defaultArgs({ headless: true, userDataDir: PROFILE, args: offlineArguments });
      const sandboxed = [...inside, '--remote-debugging-pipe'];
      try {
        return await start(launcher?.command ?? dropRoot(), program, sandboxed);
      } catch (error) {
        // In production Chromium never runs without its own sandbox: then PDF is not available.
        if (isProduction || isolation !== 'sealed') throw error;
        log.warn(
          { err: error },
          'Chromium did not start with its own sandbox; outside production it runs without it, inside bubblewrap',
        );
        return start(launcher!.command, program, [...sandboxed, '--no-sandbox']);
      }
    },
  };
}

const LAUNCH_MILLISECONDS_MAX = 30_000;

const start = async ([program, ...before]: string[], chromium: string, args: string[]): Promise<Browser> => {
  const { launch } = await import('puppeteer-core');
  const browser = await launch({
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
  // Puppeteer listens for errors of the pipes for commands and messages until it closes the browser. One that comes behind
  // that, of a browser that ends with commands that it has not read, would end the process.
  for (const pipe of browser.process()?.stdio.slice(3) ?? []) pipe?.on('error', () => undefined);
  return browser;
};

interface Launcher {
  isolation: Isolation;
  command: string[];
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Chromium refuses to run as root. */
const dropRoot = (): string[] =>
  isRoot()
    ? ['/usr/bin/setpriv', `--reuid=${NOBODY_ID}`, `--regid=${NOBODY_ID}`, '--clear-groups', '--']
    : ['/usr/bin/env'];

/** Its own namespaces, and of the host's files only programs, libraries and fonts. */
function bubblewrap(program: string): Launcher {
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
    // A browser that was unpacked for one account has its libraries and fonts beside it.
    dirname(program),
    dirname(realpathSync(program)),
  ].flatMap((path) => ['--ro-bind-try', path, path]);
  const roots = ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => [
    '--symlink',
    `usr/${name}`,
    `/${name}`,
  ]);
  return {
    isolation: 'sealed',
    command: [
      ...dropRoot(),
      'bwrap',
      ...['--unshare-user', '--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
      ...['--die-with-parent', '--new-session'],
      // Before what is readable, of which some may be below it.
      ...['--tmpfs', '/tmp'],
      ...readable,
      ...roots,
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/dev/shm', '--setenv', 'HOME', '/tmp'],
      '--',
    ],
  };
}

const unshare = (): Launcher => ({
  isolation: 'networkless',
  command: [
    ...dropRoot(),
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
