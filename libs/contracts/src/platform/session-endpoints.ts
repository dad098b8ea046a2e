import { anonymous, authenticated, endpoint } from '../endpoint';
import { CallerResponse, ConsoleConfiguration } from './shapes';

/** What an application asks before it shows anything: how people sign in, and who did. */
export const sessionEndpoints = {
  getCaller: endpoint({
    method: 'GET',
    path: '/me',
    summary: 'Read who the credential stands for, and what they may do',
    access: authenticated,
    success: { status: 200, body: CallerResponse },
    cache: 'user-data',
  }),
  getConsoleConfiguration: endpoint({
    method: 'GET',
    path: '/console/configuration',
    summary: 'Read how the console signs people in',
    access: anonymous,
    success: { status: 200, body: ConsoleConfiguration },
    cache: 'none',
  }),
};
