import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { importQuery } from './api/data-exchange';
import { callerQuery } from './api/platform';
import { settingDefinitionsQuery, settingsQuery } from './api/settings';
import { categoriesQuery, templateQuery } from './api/templates';
import { notificationsQuery, timelineQuery, unreadCountQuery } from './api/timeline';
import { definitionQuery, workflowStatusQuery } from './api/workflow';
import { whenOnline } from './components/when-online';
import { BrokenPage } from './shell/broken-page';
import { NotFoundPage } from './shell/not-found-page';
import { Shell } from './shell/shell';
import { mayDo } from './shell/caller';
import { currentSession, hasPerson } from './session/session';

// What pages show at once is asked for by their loaders, while what is around it is drawn. Loaders do not wait for it, and
// the script that a page begins with asks the same (`session/early-answers.ts`).

/** A page that is loaded when it is opened first; where there is no connection, as soon as there is one. */
const page = <Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => whenOnline(load), name);

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

interface SignInSearch {
  from?: string | undefined;
  channel?: string | undefined;
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ from, channel }: Record<string, unknown>): SignInSearch => ({
    ...(typeof from === 'string' && /^\/(?![/\\])/.test(from) ? { from } : {}),
    ...(typeof channel === 'string' ? { channel } : {}),
  }),
  component: page(() => import('./session/sign-in-page'), 'SignInPage'),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  path: '/signed-in',
  component: page(() => import('./session/signed-in-page'), 'SignedInPage'),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: ({ location }) => {
    if (!currentSession() && !hasPerson())
      throw redirect({ to: '/sign-in', search: { from: location.href } });
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
  component: page(() => import('./imports/imports-page'), 'ImportsPage'),
});

const newImport = createRoute({
  getParentRoute: () => shell,
  path: '/imports/new',
  component: page(() => import('./imports/new-import-page'), 'NewImportPage'),
});

const oneImport = createRoute({
  getParentRoute: () => shell,
  path: '/imports/$jobId',
  validateSearch: ({ step }: Record<string, unknown>): { step?: 'columns' } =>
    step === 'columns' ? { step } : {},
  loader: ({ preload, params: { jobId }, context: { queries } }) => {
    if (!preload) void queries.prefetchQuery(importQuery(jobId));
  },
  component: page(() => import('./imports/import-page'), 'ImportPage'),
});

const exportList = createRoute({
  getParentRoute: () => shell,
  path: '/exports',
  component: page(() => import('./exports/exports-page'), 'ExportsPage'),
});

const newExport = createRoute({
  getParentRoute: () => shell,
  path: '/exports/new',
  component: page(() => import('./exports/new-export-page'), 'NewExportPage'),
});

const oneExport = createRoute({
  getParentRoute: () => shell,
  path: '/exports/$jobId',
  component: page(() => import('./exports/export-page'), 'ExportPage'),
});

const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  component: page(() => import('./approvals/approvals-page'), 'ApprovalsPage'),
});

const notifications = createRoute({
  getParentRoute: () => shell,
  path: '/notifications',
  loader: ({ preload, context: { queries } }) => {
    if (preload) return;
    void queries.prefetchInfiniteQuery(notificationsQuery);
    void queries.prefetchQuery(unreadCountQuery);
  },
  component: page(() => import('./notifications/notifications-page'), 'NotificationsPage'),
});

const entity = createRoute({
  getParentRoute: () => shell,
  path: '/entities/$entityType/$entityId',
  loader: ({ preload, params: entity, context: { queries } }) => {
    if (preload) return;
    // Not known yet on the first page of a window.
    const caller = queries.getQueryData(callerQuery.queryKey);
    if (!caller || mayDo(caller, 'Workflow.Transitions.Read'))
      void queries.prefetchQuery(workflowStatusQuery(entity));
    if (!caller || mayDo(caller, 'Timeline.Entries.Read'))
      void queries.prefetchInfiniteQuery(timelineQuery(entity));
  },
  component: page(() => import('./entities/entity-page'), 'EntityPage'),
});

const levels = ['user', 'tenant', 'global'] as const;

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: ({ level }: Record<string, unknown>): { level?: (typeof levels)[number] } => {
    const known = levels.find((one) => one === level);
    return known ? { level: known } : {};
  },
  loaderDeps: ({ search: { level } }) => ({ level }),
  loader: ({ preload, deps: { level }, context: { queries } }) => {
    if (preload) return;
    void queries.prefetchQuery(settingDefinitionsQuery);
    if (level === undefined) void queries.prefetchQuery(settingsQuery('user'));
  },
  component: page(() => import('./settings/settings-page'), 'SettingsPage'),
});

const localization = createRoute({
  getParentRoute: () => shell,
  path: '/localization',
  component: page(() => import('./localization/localization-page'), 'LocalizationPage'),
});

/** The members of an address's query that are texts, by their names. */
const texts =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { [Key in Name]?: string } => {
    const given = names.filter((name) => typeof search[name] === 'string' && search[name] !== '');
    return Object.fromEntries(given.map((name) => [name, search[name]])) as { [Key in Name]?: string };
  };

const templateList = createRoute({
  getParentRoute: () => shell,
  path: '/templates',
  validateSearch: texts('search', 'status', 'category', 'kind'),
  component: page(() => import('./templates/templates-page'), 'TemplatesPage'),
});

const newTemplate = createRoute({
  getParentRoute: () => shell,
  path: '/new-template',
  component: page(() => import('./templates/new-template-page'), 'NewTemplatePage'),
});

const oneTemplate = createRoute({
  getParentRoute: () => shell,
  path: '/templates/$name',
  validateSearch: texts<'culture' | 'view'>('culture', 'view'),
  loaderDeps: ({ search: { culture } }) => ({ culture }),
  loader: ({ preload, params: { name }, deps: { culture }, context: { queries } }) => {
    if (!preload) void queries.prefetchQuery(templateQuery({ name, culture }));
  },
  component: page(() => import('./templates/template-page'), 'TemplatePage'),
});

const templateCategories = createRoute({
  getParentRoute: () => shell,
  path: '/template-categories',
  loader: ({ preload, context: { queries } }) => {
    if (!preload) void queries.prefetchQuery(categoriesQuery);
  },
  component: page(() => import('./templates/categories-page'), 'CategoriesPage'),
});

const workflowList = createRoute({
  getParentRoute: () => shell,
  path: '/workflows',
  component: page(() => import('./workflows/workflows-page'), 'WorkflowsPage'),
});

const oneWorkflow = createRoute({
  getParentRoute: () => shell,
  path: '/workflows/$entityType',
  loader: ({ preload, params: { entityType }, context: { queries } }) => {
    if (!preload) void queries.prefetchQuery(definitionQuery(entityType));
  },
  component: page(() => import('./workflows/workflow-page'), 'WorkflowPage'),
});

const gallery = createRoute({
  getParentRoute: () => shell,
  path: '/template-gallery',
  component: page(() => import('./templates/gallery-page'), 'GalleryPage'),
});

const galleryTemplate = createRoute({
  getParentRoute: () => shell,
  path: '/template-gallery/$name',
  component: page(() => import('./templates/gallery-template-page'), 'GalleryTemplatePage'),
});

const operations = createRoute({
  getParentRoute: () => shell,
  path: '/operations',
  component: page(() => import('./operations/operations-page'), 'OperationsPage'),
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
      templateList,
      newTemplate,
      oneTemplate,
      gallery,
      galleryTemplate,
      templateCategories,
      workflowList,
      oneWorkflow,
      approvals,
      notifications,
      entity,
      settings,
      localization,
      operations,
    ]),
  ]),
  basepath: '/console',
  // Given by the application.
  context: { queries: undefined! },
  defaultErrorComponent: BrokenPage,
  defaultPreload: 'intent',
  // What is loaded for a link that is pointed at is the page without what it shows: that is asked for when it is opened.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
