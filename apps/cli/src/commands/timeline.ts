import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import type { Command } from 'commander';
import { entityCommand } from '../options';
import { openSession } from '../session';
import { table } from '../terminal';

const nameByType = Object.fromEntries(Object.entries(TimelineEntryType).map(([name, type]) => [type, name]));

/** `timeline list` and `post`. */
export function addTimeline(program: Command): void {
  const timeline = program.command('timeline').description('comments and notes of an entity');

  entityCommand(timeline, 'list')
    .description('the last entries, newest first')
    .action(async (entityType: string, entityId: string, _options: object, command: Command) => {
      const session = openSession(command);
      const { body } = await session.timeline.getTimeline({ params: { entityType, entityId } });
      const rows = body.items.map((item) => [
        item.createdAt,
        item.authorDisplayName,
        nameByType[item.entryType],
        item.body,
      ]);
      session.terminal.result(body, table(['When', 'Who', 'What', 'Text'], rows));
    });

  entityCommand(timeline, 'post')
    .description('add a comment, which mentions people by @')
    .argument('<text>')
    .option('--internal', 'a note that only internal staff sees')
    .action(
      async (
        entityType: string,
        entityId: string,
        text: string,
        { internal }: { internal?: boolean },
        command: Command,
      ) => {
        const session = openSession(command);
        const entryType = internal ? TimelineEntryType.InternalNote : TimelineEntryType.Comment;
        const { body } = await session.timeline.postTimelineEntry({
          params: { entityType, entityId },
          body: { entryType, body: text },
        });
        session.terminal.result(body, `${nameByType[body.entryType]} ${body.id}`);
      },
    );
}
