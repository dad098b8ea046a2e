import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onCloseAll } from './start-gateway';

const node = join(__dirname, '../../..', 'node_modules/.bin/node');

/** Runs a real OpenID provider until the end of the test; returns its address. Its tokens are meant for the audience. */
export async function startProvider(audience?: string): Promise<string> {
  const args = [join(__dirname, 'oidc-provider.mjs'), ...(audience === undefined ? [] : [audience])];
  const provider = spawn(node, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  onCloseAll(() => provider.kill());
  const [issuer] = await once(createInterface(provider.stdout!), 'line');
  return issuer as string;
}

/** The environment of a gateway at which people sign in at this provider only. */
export const signInAt = (issuer: string): Record<string, string> => ({
  DEV_ISSUER: 'false',
  OIDC_ISSUER: issuer,
  OIDC_JWKS_URL: `${issuer}/jwks`,
});
