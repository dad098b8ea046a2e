import { Option, type Command } from 'commander';
import { openSession } from '../session';
import { table } from '../terminal';

interface ScopeOption {
  scope: 'user' | 'tenant' | 'global';
}

/** `settings list`, `get`, `set` and `unset`. */
export function addSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('named values of a person, a tenant or the platform');
  const scope = () =>
    new Option('--scope <scope>', 'level').choices(['user', 'tenant', 'global']).default('user');

  settings
    .command('list')
    .description('the values as seen at a level')
    .addOption(scope())
    .action(async (options: ScopeOption, command: Command) => {
      const session = openSession(command);
      const { body } = await session.settings.getSettings({ params: options });
      session.terminal.result(body, table(['Name', 'Value'], Object.entries(body)));
    });

  settings
    .command('get')
    .description('one value')
    .argument('<name>')
    .addOption(scope())
    .action(async (name: string, options: ScopeOption, command: Command) => {
      const session = openSession(command);
      const { body } = await session.settings.getSetting({ params: { ...options, name } });
      session.terminal.result(body, body.value ?? '');
    });

  settings
    .command('set')
    .description('set a value at a level')
    .argument('<name>')
    .argument('<value>')
    .addOption(scope())
    .action(async (name: string, value: string, options: ScopeOption, command: Command) => {
      const session = openSession(command);
      await session.settings.putSetting({ params: { ...options, name }, body: { value } });
      session.terminal.result({ name, value }, `${name} is ${value} (${options.scope})`);
    });

  settings
    .command('unset')
    .description('clear a value, so that the next level decides')
    .argument('<name>')
    .addOption(scope())
    .action(async (name: string, options: ScopeOption, command: Command) => {
      const session = openSession(command);
      await session.settings.deleteSetting({ params: { ...options, name } });
      session.terminal.result({ name, value: null }, `${name} is cleared (${options.scope})`);
    });
}
