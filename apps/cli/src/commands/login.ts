import type { Command } from 'commander';
import { changeCredential, storeCredential } from '../credentials';
import { openSession } from '../session';
import { signInByDevice, signInForDevelopment } from '../sign-in';

interface LoginOptions {
  development?: boolean;
  person: string;
  roles: string;
  issuer?: string;
  clientId: string;
  scope?: string;
}

/** `login`, `logout` and `whoami`. */
export function addLogin(program: Command): void {
  program
    .command('login')
    .description('sign in, in a browser on any device')
    .option('--issuer <address>', 'issuer, where the platform does not name the right one')
    .option('--client-id <id>', 'client of the issuer for this program', 'plinth-cli')
    .option('--scope <scope>', 'scope to ask for')
    .option('--development', "a token of a developer's platform, without a browser")
    .option('--person <id>', 'with --development: whose token', 'ada')
    .option('--roles <names>', 'with --development: roles, comma-separated', 'admin')
    .action(async (options: LoginOptions, command: Command) => {
      const { url, tenant, terminal } = openSession(command);
      const credential = options.development
        ? await signInForDevelopment(url, {
            sub: options.person,
            name: options.person,
            roles: options.roles.split(','),
            ...(tenant === undefined ? {} : { tenantId: tenant }),
          })
        : await signInByDevice(url, {
            ...options,
            onCode: (address, code) => terminal.note(`Open ${address} and confirm the code ${code}.`),
          });
      await changeCredential(url, () => storeCredential(url, credential));
      const { expiresAt } = credential;
      terminal.result(
        { url, expiresAt: new Date(expiresAt).toISOString() },
        `Signed in at ${url} until ${new Date(expiresAt).toLocaleString()}.`,
      );
    });

  program
    .command('logout')
    .description('remove the stored credential of this platform')
    .action(async (_options: object, command: Command) => {
      const { url, terminal } = openSession(command);
      await changeCredential(url, () => storeCredential(url, undefined));
      terminal.result({ url }, `Signed out at ${url}.`);
    });

  program
    .command('whoami')
    .description('who the credential stands for')
    .action(async (_options: object, command: Command) => {
      const { gateway, terminal } = openSession(command);
      const { body } = await gateway.getCaller();
      terminal.result(
        body,
        `${body.userName} (${body.userId}) in ${body.tenantName ?? body.tenantId}: ${body.permissions.join(', ')}`,
      );
    });
}
