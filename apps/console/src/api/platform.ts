import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { sessionEndpoints } from '@plinth/contracts/platform/session-endpoints';
import { createClient, type Client, type ClientOptions } from '@plinth/sdk/client';
import { queryOptions } from '@tanstack/react-query';
import { fetchAfterEarlyAnswers } from '../session/early-answers';
import { currentSession, rememberPerson, sessionRenewed } from '../session/session';
import { sendOnce } from './send-once';

/** How every client of the console reaches the platform: the address that served the page, with the person's token. */
export const clientOptions: ClientOptions = {
  baseUrl: location.origin,
  token: () => currentSession()?.token ?? '',
  renewToken: sessionRenewed,
  fetch: sendOnce(fetchAfterEarlyAnswers),
  // A service that is restarted is waited for; one that hangs is told of after its first timeout, not after four.
  retry: { periodMilliseconds: 15_000 },
};

type Platform = Client<typeof sessionEndpoints>;
const platform: Platform = createClient(sessionEndpoints, {
  ...clientOptions,
  prefix: '',
});

/** Who a token stands for. */
export const callerOf = async (token: string): Promise<CallerOfSession> =>
  (await createClient(sessionEndpoints, { baseUrl: location.origin, prefix: '', token }).getCaller()).body;

/** Texts are the same for everybody in a tenant, so browsers may cache them: they are read without a token. */
export const publicLocalization = createClient(localizationEndpoints, {
  baseUrl: location.origin,
  prefix: '',
});

export type Configuration = Awaited<ReturnType<Platform['getConsoleConfiguration']>>['body'];
export type CallerOfSession = Awaited<ReturnType<Platform['getCaller']>>['body'];

export const configurationQuery = queryOptions({
  queryKey: ['configuration'],
  queryFn: async ({ signal }) => (await platform.getConsoleConfiguration({ signal })).body,
  staleTime: Infinity,
});

/** Who is signed in, and what they may do. */
export const callerQuery = queryOptions({
  queryKey: ['caller'],
  queryFn: async ({ signal }) => {
    const { body } = await platform.getCaller({ signal });
    rememberPerson(body);
    return body;
  },
  staleTime: Infinity,
});
