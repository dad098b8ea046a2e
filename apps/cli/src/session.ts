import { createPlatformClient } from '@plinth/sdk/client';
import { Option, type Command } from 'commander';
import { findCredential, storeCredential, type StoredCredential } from './credentials';
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
  const stored = findCredential(url);
  if (stored === undefined)
    throw new CommandError(
      `Nobody is signed in at ${url}: \`plinth login\`, or set PLINTH_TOKEN.`,
      ExitCode.NotAllowed,
    );
  if (isFresh(stored)) return stored.accessToken;
  const renewal = renewals.get(url) ?? renew(url, stored).finally(() => renewals.delete(url));
  renewals.set(url, renewal);
  return renewal;
}

const isFresh = ({ expiresAt }: StoredCredential): boolean =>
  expiresAt - RENEW_BEFORE_MILLISECONDS > Date.now();

/** Those that run: many issuers accept a refresh token once, and take the second time for theft. */
const renewals = new Map<string, Promise<string>>();

async function renew(url: string, expired: StoredCredential): Promise<string> {
  const renewed = await refresh(expired);
  if (renewed !== undefined) {
    storeCredential(url, renewed);
    return renewed.accessToken;
  }
  // By another program, with the same refresh token.
  const stored = findCredential(url);
  if (stored && isFresh(stored)) return stored.accessToken;
  throw new CommandError(`The sign-in at ${url} has expired: \`plinth login\`.`, ExitCode.NotAllowed);
}
