import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { NotFoundPage } from './shell/not-found-page';
import { currentSession } from './session/session';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ from }: Record<string, unknown>): { from?: string } =>
    typeof from === 'string' && /^\/(?![/\\])/.test(from) ? { from } : {},
  component: lazyRouteComponent(() => import('./session/sign-in-page'), 'SignInPage'),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  path: '/signed-in',
  component: lazyRouteComponent(() => import('./session/signed-in-page'), 'SignedInPage'),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: lazyRouteComponent(() => import('./shell/shell'), 'Shell'),
  beforeLoad: ({ location }) => {
    if (!currentSession()) throw redirect({ to: '/sign-in', search: { from: location.href } });
  },
});

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/imports' });
  },
});

const imports = createRoute({
  getParentRoute: () => shell,
  path: '/imports',
  component: lazyRouteComponent(() => import('./imports/imports-page'), 'ImportsPage'),
});

const newImport = createRoute({
  getParentRoute: () => shell,
  path: '/imports/new',
  component: lazyRouteComponent(() => import('./imports/new-import-page'), 'NewImportPage'),
});

const oneImport = createRoute({
  getParentRoute: () => shell,
  path: '/imports/$jobId',
  validateSearch: ({ step }: Record<string, unknown>): { step?: 'columns' } =>
    step === 'columns' ? { step } : {},
  component: lazyRouteComponent(() => import('./imports/import-page'), 'ImportPage'),
});

const exportList = createRoute({
  getParentRoute: () => shell,
  path: '/exports',
  component: lazyRouteComponent(() => import('./exports/exports-page'), 'ExportsPage'),
});

const newExport = createRoute({
  getParentRoute: () => shell,
  path: '/exports/new',
  component: lazyRouteComponent(() => import('./exports/new-export-page'), 'NewExportPage'),
});

const oneExport = createRoute({
  getParentRoute: () => shell,
  path: '/exports/$jobId',
  component: lazyRouteComponent(() => import('./exports/export-page'), 'ExportPage'),
});

const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  component: lazyRouteComponent(() => import('./approvals/approvals-page'), 'ApprovalsPage'),
});

const notifications = createRoute({
  getParentRoute: () => shell,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./notifications/notifications-page'), 'NotificationsPage'),
});

const entity = createRoute({
  getParentRoute: () => shell,
  path: '/entities/$entityType/$entityId',
  component: lazyRouteComponent(() => import('./entities/entity-page'), 'EntityPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    signedIn,
    shell.addChildren([
      home,
      imports,
      newImport,
      oneImport,
      exportList,
      newExport,
      oneExport,
      approvals,
      notifications,
      entity,
    ]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
