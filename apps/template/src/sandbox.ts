import type { Answer, Message, Task } from './render/sandbox/protocol';
import { work } from './render/sandbox/work';

/**
 * The process in which templates are evaluated. It is started without environment and without the right to write,
 * to open sockets of its own or to start anything (ADR 0013), and it knows one conversation: a task, an answer.
 */
process.on('message', ({ id, content }: Message<Task>) => {
  work(content).then(
    (answer: Answer) => process.send?.({ id, content: answer } satisfies Message<Answer>),
    // A bug of ours, or a stack that ran over: the pool replaces a process that ends.
    () => process.exit(1),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, content: null });
