import {
  Bell,
  CircleCheckBig,
  FileDown,
  FileText,
  FileUp,
  Languages,
  ServerCog,
  SlidersHorizontal,
  Workflow,
  type LucideIcon,
} from 'lucide-react';
import type { Permission } from '@plinth/contracts/permissions';
import type { CallerOfSession } from '../api/platform';
import type { TextKey } from '../texts/texts';
import { isOfHost, mayDo } from './caller';

export interface Destination {
  /** Key of its name. */
  text: TextKey;
  to:
    | '/imports'
    | '/exports'
    | '/templates'
    | '/workflows'
    | '/approvals'
    | '/notifications'
    | '/settings'
    | '/localization'
    | '/operations';
  icon: LucideIcon;
  /** Whoever lacks it is not led there. */
  permission?: Permission;
  /** For the operators of the platform. */
  hostOnly?: boolean;
}

/** What the console has, in the order of its menu. */
const destinations: readonly { text: TextKey; items: readonly Destination[] }[] = [
  {
    text: 'Console.shell.work',
    items: [
      {
        text: 'Console.approvals.title',
        to: '/approvals',
        icon: CircleCheckBig,
        permission: 'Workflow.Transitions.Read',
      },
      { text: 'Platform.areas.notifications', to: '/notifications', icon: Bell },
    ],
  },
  {
    text: 'Console.templates.area',
    items: [
      {
        text: 'Platform.areas.templates',
        to: '/templates',
        icon: FileText,
        permission: 'Templating.Templates.Read',
      },
    ],
  },
  {
    text: 'Platform.areas.dataExchange',
    items: [
      {
        text: 'Platform.areas.imports',
        to: '/imports',
        icon: FileUp,
        permission: 'DataExchange.Imports.Read',
      },
      {
        text: 'Platform.areas.exports',
        to: '/exports',
        icon: FileDown,
        permission: 'DataExchange.Exports.Read',
      },
    ],
  },
  {
    text: 'Console.shell.administration',
    items: [
      {
        text: 'Platform.areas.localization',
        to: '/localization',
        icon: Languages,
        permission: 'Localization.Overrides.Manage',
      },
      { text: 'Platform.areas.settings', to: '/settings', icon: SlidersHorizontal },
      {
        text: 'Console.workflows.title',
        to: '/workflows',
        icon: Workflow,
        permission: 'Workflow.Transitions.Read',
      },
      {
        text: 'Console.operations.title',
        to: '/operations',
        icon: ServerCog,
        permission: 'Platform.Operations.Read',
        hostOnly: true,
      },
    ],
  },
];

/** Where this person is led. */
export const reachableGroups = (caller: CallerOfSession) =>
  destinations
    .map(({ text, items }) => ({
      text,
      items: items.filter(
        ({ permission, hostOnly = false }) => mayDo(caller, permission) && (!hostOnly || isOfHost(caller)),
      ),
    }))
    .filter(({ items }) => items.length > 0);
