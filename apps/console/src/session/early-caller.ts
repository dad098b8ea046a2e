import type { Session } from './stored-session';

declare global {
  /** What the script that a page begins with leaves for the application, which is another script. */
  var earlyCaller: { authorization: string; response: Promise<Response> } | undefined;
}

/** Asks who is signed in, long before the application could. */
export function askForCaller({ token }: Session): void {
  const authorization = `Bearer ${token}`;
  const response = fetch('/me', { headers: { accept: 'application/json', authorization } });
  // The application asks again where this failed.
  response.catch(() => undefined);
  globalThis.earlyCaller = { authorization, response };
}

/** `fetch`, but for the first question who is signed in: that has been asked already. */
export const fetchAfterEarlyCaller: typeof fetch = (input, init) => {
  const early = globalThis.earlyCaller;
  if (!early || input !== `${location.origin}/me`) return fetch(input, init);
  globalThis.earlyCaller = undefined;
  const isSamePerson = new Headers(init?.headers).get('authorization') === early.authorization;
  return isSamePerson ? early.response : fetch(input, init);
};
