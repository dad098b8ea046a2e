import { useSuspenseQuery } from '@tanstack/react-query';
import type { Permission } from '@plinth/contracts/permissions';
import { callerQuery, type CallerOfSession } from '../api/platform';

/** Who is signed in; only inside the shell, which waits for it. */
export const useCaller = (): CallerOfSession => useSuspenseQuery(callerQuery).data;

export const mayDo = ({ permissions }: CallerOfSession, permission: Permission | undefined): boolean =>
  permission === undefined || permissions.includes('*') || permissions.includes(permission);
