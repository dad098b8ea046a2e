import { Bell, CircleCheckBig, FileDown, FileUp, type LucideIcon } from 'lucide-react';
import type { Permission } from '@plinth/contracts/permissions';

export interface Destination {
  /** Key of its name. */
  text: string;
  to: '/imports' | '/exports' | '/approvals' | '/notifications';
  icon: LucideIcon;
  /** Whoever lacks it is not led there. */
  permission?: Permission;
}

/** What the console has, in the order of its menu. */
export const destinations: readonly { text: string; items: readonly Destination[] }[] = [
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
];
