import type { Command } from 'commander';
import { ExitCode } from '../exit-codes';
import { entityCommand } from '../options';
import { openSession } from '../session';
import { table } from '../terminal';

/** `workflow status`, `transition`, `history` and `approvals`. */
export function addWorkflow(program: Command): void {
  const workflow = program.command('workflow').description('states of entities, and what waits for approval');

  entityCommand(workflow, 'status')
    .description('the state of an entity, and where it may go')
    .action(async (entityType: string, entityId: string, _options: object, command: Command) => {
      const session = openSession(command);
      const { body } = await session.workflow.getTransitions({ params: { entityType, entityId } });
      const targets = body.availableTransitions.map(({ targetState }) => targetState);
      session.terminal.result(body, `${body.currentState} → ${targets.join(', ') || '(nowhere)'}`);
    });

  entityCommand(workflow, 'transition')
    .description('move an entity to a state, or ask for the approval of it')
    .argument('<state>')
    .option('--comment <text>', 'reason')
    .action(
      async (
        entityType: string,
        entityId: string,
        targetState: string,
        { comment }: { comment?: string },
        command: Command,
      ) => {
        const session = openSession(command);
        const { body } = await session.workflow.postTransition({
          params: { entityType, entityId },
          body: { targetState, ...(comment === undefined ? {} : { comment }) },
        });
        session.terminal.result(body, `${body.outcome}: ${body.resultingState}`);
        if (!body.succeeded) process.exitCode = ExitCode.Refused;
      },
    );

  entityCommand(workflow, 'history')
    .description('the last transitions of an entity, newest first')
    .action(async (entityType: string, entityId: string, _options: object, command: Command) => {
      const session = openSession(command);
      const { body } = await session.workflow.getHistory({ params: { entityType, entityId } });
      const rows = body.items.map((item) => [
        item.transitionedAt,
        item.transitionedBy,
        `${item.previousState} → ${item.newState}`,
        item.comment,
      ]);
      session.terminal.result(body, table(['When', 'Who', 'What', 'Comment'], rows));
    });

  workflow
    .command('approvals')
    .description('what waits for your approval')
    .action(async (_options: object, command: Command) => {
      const session = openSession(command);
      const { body } = await session.workflow.getApprovals({});
      const rows = body.items.map((item) => [
        item.entityType,
        item.entityId,
        item.targetState,
        item.requestedBy,
      ]);
      session.terminal.result(body, table(['Type', 'Id', 'State', 'Asked by'], rows));
    });
}
