import type { Api } from '@plinth/conventions/api';
import type { Caller } from '@plinth/kernel/caller';
import type { Deps } from '../compose';

/** Puts every caller into the directory of people before the endpoint answers. */
export const seeingCallers = (api: Api, { people }: Pick<Deps, 'people'>): Api => ({
  on: (endpoint, handler) =>
    api.on(endpoint, async (input) => {
      await people.see(input.caller as Caller);
      return handler(input);
    }),
});
