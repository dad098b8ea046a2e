import type { Session } from './stored-session';

/** Browsers may allow a page to open windows only when they are told to. */
export class NoWindowError extends Error {}

/**
 * Signs in in another window, so that this one keeps its page. Whoever closes that one may ask again.
 * @throws NoWindowError
 */
export async function signInInOtherWindow(): Promise<Session> {
  // Nobody else listens there.
  const name = `plinth-session-${crypto.randomUUID()}`;
  const address = `/console/sign-in?${new URLSearchParams({ channel: name }).toString()}`;
  const channel = new BroadcastChannel(name);
  if (!window.open(address, '_blank', 'popup,width=560,height=720')) {
    channel.close();
    throw new NoWindowError('The browser opened no window.');
  }
  return new Promise((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Session>) => {
      channel.close();
      resolve(data);
    };
  });
}

/** Gives the session to the window that waits for it. */
export function handOver(name: string, session: Session): void {
  const channel = new BroadcastChannel(name);
  channel.postMessage(session);
  channel.close();
}
