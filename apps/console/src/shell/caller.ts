import { useSuspenseQuery } from '@tanstack/react-query';
import type { Permission } from '@plinth/contracts/permissions';
import { callerQuery, type CallerOfSession } from '../api/platform';

/** Who is signed in; only inside the shell, which waits for it. */
export const useCaller = (): CallerOfSession => useSuspenseQuery(callerQuery).data;

export const mayDo = ({ permissions }: CallerOfSession, permission: Permission | undefined): boolean =>
  permission === undefined || permissions.includes('*') || permissions.includes(permission);

const HOST_TENANT_ID = '00000000-0000-0000-0000-000000000000';

/** Whether the person acts for the operators of the platform, who alone see what concerns all tenants. */
export const isOfHost = ({ tenantId }: CallerOfSession): boolean => tenantId === HOST_TENANT_ID;
