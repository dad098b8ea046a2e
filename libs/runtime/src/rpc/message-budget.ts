import { setTimeout as pause } from 'node:timers/promises';
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

/** How long a stream waits for room; its sender waits with it, as for a slow reader. */
const ROOM_WAIT_MILLISECONDS_MAX = 5_000;
const ROOM_POLL_MILLISECONDS = 20;

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
 * no room fails before a handler sees that, a stream after it waited for a while.
 * @param describe what is sent of a problem
 */
export const countMessages =
  ({ bytes, refused }: MessageBudget, describe: (problem: Problem) => Metadata): ServerInterceptor =>
  ({ requestStream: isStream }, call) => {
    let owner: ShareOwner = { tenantId: '', userId: '' };
    let held: ReturnType<ByteBudget['reserve']>[] = [];
    let isOver = false;
    const end = (): void => {
      isOver = true;
      for (const message of held) message.release();
      held = [];
    };
    const reserve = async (size: number): Promise<ShareScope | undefined> => {
      const endsAt = performance.now() + (isStream ? ROOM_WAIT_MILLISECONDS_MAX : 0);
      const reservation = bytes.reserve(owner);
      let refusal = reservation.grow(size);
      while (refusal && !isOver && performance.now() < endsAt) {
        await pause(ROOM_POLL_MILLISECONDS);
        refusal = reservation.grow(size);
      }
      if (isOver) reservation.release();
      else if (!refusal) held.push(reservation);
      return refusal;
    };
    const counted = new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            // Its signature is verified by the handler. Who forges it is refused there, and held a share until then.
            owner = ownerIn(metadata.get(CALLER_HEADER)[0]?.toString()) ?? owner;
            proceed(metadata);
          },
          async onReceiveMessage(message: object, proceed) {
            if (isOver) return;
            if (held.length === HELD_MESSAGES) held.shift()!.release();
            const refusal = await reserve(sizes.get(message) ?? 0);
            if (isOver) return;
            if (!refusal) return proceed(message);
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
