import { createPlatformClient } from '@plinth/sdk/client';
import { Option, type Command } from 'commander';
import { changeCredential, findCredential, storeCredential, type StoredCredential } from './credentials';
import { CommandError, ExitCode } from './exit-codes';
import { gatewayClient, refresh } from './sign-in';
import { Terminal } from './terminal';

interface GlobalOptions {
  url: string;
  tenant?: string;
  json?: boolean;
  yes?: boolean;
}

/** The options of every command. */
export const addGlobalOptions = (program: Command): Command =>
  program
    .addOption(
      new Option('--url <address>', 'address of the platform')
        .env('PLINTH_URL')
        .default('http://localhost:8080'),
    )
    .addOption(
      new Option('--tenant <id>', "another tenant than the token's, where it allows that").env(
        'PLINTH_TENANT',
      ),
    )
    .option('--json', 'results as JSON')
    .option('-y, --yes', 'confirm everything');

/** What a command works with. */
export function openSession(command: Command) {
  const { url: given, tenant, json = false, yes = false } = command.optsWithGlobals<GlobalOptions>();
  const url = given.replace(/\/+$/, '');
  const token = () => currentToken(url);
  return {
    url,
    tenant,
    terminal: new Terminal(json, yes),
    gateway: gatewayClient(url, token, tenant),
    ...createPlatformClient({ baseUrl: url, token, ...(tenant === undefined ? {} : { tenantId: tenant }) }),
  };
}

export type Session = ReturnType<typeof openSession>;

const RENEW_BEFORE_MILLISECONDS = 30_000;

/** `PLINTH_TOKEN`, which may be an API key; else what somebody signed in for, renewed where it has to be. */
async function currentToken(url: string): Promise<string> {
  const given = process.env['PLINTH_TOKEN'];
  if (given) return given;
  const stored = findSignIn(url);
  if (isFresh(stored)) return stored.accessToken;
  const renewal = renewals.get(url) ?? renew(url).finally(() => renewals.delete(url));
  renewals.set(url, renewal);
  return renewal;
}

function findSignIn(url: string): StoredCredential {
  const stored = findCredential(url);
  if (stored) return stored;
  throw new CommandError(
    `Nobody is signed in at ${url}: \`plinth login\`, or set PLINTH_TOKEN.`,
    ExitCode.NotAllowed,
  );
}

const isFresh = ({ expiresAt }: StoredCredential): boolean =>
  expiresAt - RENEW_BEFORE_MILLISECONDS > Date.now();

/** Those that run for the requests of this command. */
const renewals = new Map<string, Promise<string>>();

/** Many issuers accept a refresh token once, take the second time for theft, and withdraw the sign-in: also of other programs. */
const renew = (url: string): Promise<string> =>
  changeCredential(url, async () => {
    const stored = findSignIn(url);
    if (isFresh(stored)) return stored.accessToken;
    const renewed = await refresh(stored);
    if (renewed === undefined)
      throw new CommandError(`The sign-in at ${url} has expired: \`plinth login\`.`, ExitCode.NotAllowed);
    storeCredential(url, renewed);
    return renewed.accessToken;
  });
