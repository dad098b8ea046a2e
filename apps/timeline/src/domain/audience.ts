import { holds, type Caller } from '@plinth/kernel/caller';

/**
 * What part of a timeline a caller may see. This is the one place that decides who sees internal notes; every query,
 * count, notification, file and export of this service is made for an audience.
 */
export interface Audience {
  tenantId: string;
  seesInternal: boolean;
}

export const audienceOf = (caller: Caller): Audience => ({
  tenantId: caller.tenantId,
  seesInternal: holds(caller, 'Timeline.InternalNotes.Read'),
});
