import { lazy, type ComponentType } from 'react';
import { whenOnline } from './when-online';

/** A part of a page that is loaded when it is shown first; where there is no connection, as soon as there is one. */
export const lazyPart = <Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
) => lazy(async () => ({ default: choose(await whenOnline(load)) }));
