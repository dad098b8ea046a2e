import type { Command } from 'commander';
import { CommandError } from '../exit-codes';
import { collect } from '../options';
import { openSession } from '../session';
import { table } from '../terminal';

interface CreateOptions {
  permission: string[];
  days?: string;
}

const DAY_MILLISECONDS = 24 * 60 * 60 * 1_000;

/** `api-keys list`, `create` and `revoke`. */
export function addApiKeys(program: Command): void {
  const apiKeys = program.command('api-keys').description('credentials of programs');

  apiKeys
    .command('list')
    .description('the newest keys, without the keys themselves')
    .action(async (_options: object, command: Command) => {
      const session = openSession(command);
      const { body } = await session.settings.getApiKeys({});
      const rows = body.items.map((key) => [
        key.id,
        key.name,
        key.hint,
        key.createdByName,
        key.revokedAt === null ? `until ${key.expiresAt}` : 'revoked',
        key.lastUsedAt,
      ]);
      session.terminal.result(body, table(['Id', 'Name', 'Key', 'Made by', 'Valid', 'Last use'], rows));
    });

  apiKeys
    .command('create')
    .description('make a key that acts as you; it is shown this once')
    .argument('<name>', 'what it is for')
    .requiredOption('--permission <name>', 'what it may do, of what you may; several times', collect)
    .option('--days <number>', 'how long it is valid')
    .action(async (name: string, { permission, days }: CreateOptions, command: Command) => {
      const session = openSession(command);
      const { body } = await session.settings.postApiKey({
        body: { name, permissions: permission, ...(days === undefined ? {} : { expiresAt: inDays(days) }) },
      });
      session.terminal.result(body, body.key);
      session.terminal.note(`${body.id} is valid until ${body.expiresAt}; the key cannot be read again.`);
    });

  apiKeys
    .command('revoke')
    .description('end a key at once')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) => {
      const session = openSession(command);
      await session.settings.deleteApiKey({ params: { id } });
      session.terminal.result({ id }, `${id} is revoked`);
    });
}

function inDays(days: string): string {
  if (!/^\d{1,4}$/.test(days)) throw new CommandError(`--days takes a number of days, not "${days}".`);
  return new Date(Date.now() + Number(days) * DAY_MILLISECONDS).toISOString();
}
