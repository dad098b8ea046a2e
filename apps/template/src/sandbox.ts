import type { TaskResult, Message, Task } from './render/sandbox/protocol';
import { runTask } from './render/sandbox/run-task';

/**
 * The process in which templates are evaluated. It is started without environment and without the right to write,
 * to open sockets or to start processes (ADR 0013); it receives tasks and sends their results.
 */
process.on('message', ({ id, content }: Message<Task>) => {
  runTask(content).then(
    (result: TaskResult) => process.send?.({ id, content: result } satisfies Message<TaskResult>),
    // An error in our code, or a stack overflow: the pool replaces a process that exits.
    () => process.exit(1),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, content: null });
