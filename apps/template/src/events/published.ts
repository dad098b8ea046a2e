import {
  templateDeleted,
  templateMoved,
  templatePublished,
  templateSaved,
} from '@plinth/contracts/template/events';
import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { EventType, PayloadOf } from '@plinth/kernel/event';
import { isUuid, newId } from '@plinth/kernel/uuid';
import { appendToOutbox } from '@plinth/runtime/outbox';
import type { RawStatements } from '@plinth/runtime/postgres';
import { entityIdOf, TEMPLATE_ENTITY_TYPE } from '../domain/entity-id';
import type { Step, Template } from '../domain/template';

const nameOf = (status: Status): string => Object.entries(Status).find(([, value]) => value === status)![0];

/** Tells what a step did, in the transaction of the step. */
export async function tellStep(
  tx: RawStatements,
  caller: Caller,
  before: Template | undefined,
  { template, revisions }: Step,
  { moveId, comment }: { moveId: string | undefined; comment: string | undefined },
): Promise<void> {
  const entityId = entityIdOf(template);
  const tell = <E extends EventType>(type: E, payload: PayloadOf<E>) =>
    appendToOutbox(tx, { type, tenantId: caller.tenantId, subject: entityId, payload, actor: caller });
  const key = { name: template.name, culture: template.culture ?? null };

  const saved = revisions.find(({ number }) => number > (before?.revisions ?? 0));
  if (saved) await tell(templateSaved, { ...key, revisionId: saved.id, category: template.category ?? null });
  const published = revisions.find(({ status }) => status === Status.Published);
  if (published) await tell(templatePublished, { ...key, revisionId: published.id });
  const wasDeleted =
    before?.draft && !template.draft && !published && before.published?.id === template.published?.id;
  if (wasDeleted)
    await tell(templateDeleted, { ...key, revisionId: before.draft!.id, gone: template.isGone });

  if (!before || template.isGone || before.status === template.status) return;
  await tell(templateMoved, {
    entityType: TEMPLATE_ENTITY_TYPE,
    entityId,
    moveId: moveId !== undefined && isUuid(moveId) ? moveId : newId(),
    previousState: nameOf(before.status),
    newState: nameOf(template.status),
    comment: comment || null,
    movedAt: template.lastModifiedAt.toISOString(),
    movedBy: caller.userId,
  });
}
