import { lazy, type ComponentType } from 'react';
import { whenOnline } from './when-online';

/** A part of a page that is loaded when it is shown first; where there is no connection, as soon as there is one. */
export const lazyPart = <Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
) => lazy(async () => ({ default: choose(await whenOnline(load)) }));

/** The same for a part that is always shown: its loading begins with the page, and does not wait for what is around it. */
export function soonPart<Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
) {
  const loading = whenOnline(load);
  loading.catch(() => undefined);
  return lazyPart(() => loading.catch(load), choose);
}
