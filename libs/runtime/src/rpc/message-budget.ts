import {
  type Metadata,
  ServerInterceptingCall,
  status,
  type ServerInterceptor,
  type ServiceError,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import type { Problem } from '@plinth/kernel/problem';
import type { ShareOwner, ShareScope } from '@plinth/kernel/fair-shares';
import type { ByteBudget } from '../process/byte-budget';
import { CALLER_HEADER, ownerIn } from './signed-caller';

/** The bytes of messages that the calls of a process hold together, and the problem of one that has no room. */
export interface MessageBudget {
  bytes: ByteBudget;
  refused: (scope: ShareScope) => Problem;
}

/** While a message of a stream is processed, the next one is read already. */
const HELD_MESSAGES = 2;

/** Says of a failed call that no handler saw its message, so that it may be repeated whatever it does. */
const UNREAD_KEY = 'plinth-unread';

export const isUnread = ({ metadata }: ServiceError): boolean => metadata?.get(UNREAD_KEY).length > 0;

const sizes = new WeakMap<object, number>();

/** The same methods, which note the size of each message that they read. */
export const notingSizes = (definition: ServiceDefinition): ServiceDefinition =>
  Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize(bytes: Buffer): object {
          const message = method.requestDeserialize(bytes) as object;
          sizes.set(message, bytes.length);
          return message;
        },
      },
    ]),
  );

/**
 * Counts the messages of each call in a budget until it ends, of a stream the newest ones. A call whose next message has
 * no room fails before a handler sees that.
 * @param describe what is sent of a problem
 */
export const countMessages =
  ({ bytes, refused }: MessageBudget, describe: (problem: Problem) => Metadata): ServerInterceptor =>
  (_method, call) => {
    let owner: ShareOwner = { tenantId: '', userId: '' };
    let held: ReturnType<ByteBudget['reserve']>[] = [];
    let isOver = false;
    const end = (): void => {
      isOver = true;
      for (const message of held) message.release();
      held = [];
    };
    const counted = new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            // Its signature is verified by the handler. Who forges it is refused there, and held a share until then.
            owner = ownerIn(metadata.get(CALLER_HEADER)[0]?.toString()) ?? owner;
            proceed(metadata);
          },
          onReceiveMessage(message: object, proceed) {
            if (isOver) return;
            if (held.length === HELD_MESSAGES) held.shift()!.release();
            const reservation = bytes.reserve(owner);
            const refusal = reservation.grow(sizes.get(message) ?? 0);
            if (!refusal) {
              held.push(reservation);
              proceed(message);
              return;
            }
            const problem = refused(refusal);
            const metadata = describe(problem);
            metadata.set(UNREAD_KEY, 'true');
            counted.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: problem.kind, metadata });
          },
          onCancel() {
            end();
          },
        }),
      sendStatus(sent, proceed) {
        end();
        proceed(sent);
      },
    });
    return counted;
  };
