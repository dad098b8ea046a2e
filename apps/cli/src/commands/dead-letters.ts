import type { Command } from 'commander';
import { ExitCode } from '../exit-codes';
import { openSession } from '../session';
import { table } from '../terminal';

/** `dead-letters list` and `replay`, for the operators of the platform. */
export function addDeadLetters(program: Command): void {
  const deadLetters = program
    .command('dead-letters')
    .description('events that services could not process, for operators of the platform');

  deadLetters
    .command('list')
    .description('the oldest of each service, and why')
    .action(async (_options: object, command: Command) => {
      const session = openSession(command);
      const { body } = await session.gateway.listDeadLetters();
      const rows = body.items.map(({ service, eventId, name, tenantId, deliveries, diedAt, error }) => [
        service,
        eventId,
        name,
        tenantId,
        deliveries,
        diedAt,
        error.split('\n', 1)[0],
      ]);
      const columns = ['Service', 'Event', 'Name', 'Tenant', 'Attempts', 'Last', 'Why'];
      session.terminal.result(body, table(columns, rows));
      if (body.silent.length === 0) return;
      session.terminal.note(`Without those of ${body.silent.join(', ')}, which did not respond.`);
      process.exitCode = ExitCode.Unavailable;
    });

  deadLetters
    .command('replay')
    .description('have a service process its oldest ones again, each once')
    .argument('<service>')
    .option('--event <id>', 'only this event')
    .action(async (service: string, { event }: { event?: string }, command: Command) => {
      const session = openSession(command);
      const { body } = await session.gateway.replayDeadLetters({
        body: { service, ...(event === undefined ? {} : { eventId: event }) },
      });
      session.terminal.result(body, `${body.processed} processed, ${body.failed} failed again`);
      if (body.failed > 0) process.exitCode = ExitCode.Partly;
      if (event === undefined || body.processed + body.failed > 0) return;
      session.terminal.note(`${service} has no dead letter of the event ${event}.`);
      process.exitCode = ExitCode.Refused;
    });
}
