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
import {
  appendToOutbox,
  compareAndWrite,
  type NewEvent,
  type Writing,
} from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Sql } from '@plinth/runtime/postgres/raw-statements';
import { entityIdOf, TEMPLATE_ENTITY_TYPE } from '../domain/entity-id';
import { nameOfStatus, type Step, type Template } from '../domain/template';

/**
 * Writes a change by its statements, and publishes what it did. Where the decisive statement finds that the template is
 * not as it was read, the others have nothing to do.
 */
export const writeStep = (
  tx: RawStatements,
  { decisive, toOthers }: { decisive: Sql; toOthers: (isDecided: Sql) => readonly Sql[] },
  ...of: Parameters<typeof eventsOf>
): Writing => compareAndWrite(tx, decisive, toOthers, ...eventsOf(...of));

function eventsOf(
  caller: Caller,
  before: Template | undefined,
  { template, revisions }: Step,
  { moveId, comment }: { moveId?: string | undefined; comment?: string | undefined } = {},
): NewEvent<EventType>[] {
  const events: NewEvent<EventType>[] = [];
  const entityId = entityIdOf(template);
  const publish = <E extends EventType>(type: E, payload: PayloadOf<E>) =>
    events.push({ type, tenantId: caller.tenantId, subject: entityId, payload, actor: caller });
  const key = { name: template.name, culture: template.culture ?? null };

  const saved = revisions.find(({ number }) => number > (before?.revisions ?? 0));
  if (saved) publish(templateSaved, { ...key, revisionId: saved.id, category: template.category ?? null });
  const published = revisions.find(({ status }) => status === Status.Published);
  if (published) publish(templatePublished, { ...key, revisionId: published.id });
  const wasDeleted =
    before?.draft && !template.draft && !published && before.published?.id === template.published?.id;
  if (wasDeleted) publish(templateDeleted, { ...key, revisionId: before.draft!.id, gone: template.isGone });

  if (!before || template.isGone || before.status === template.status) return events;
  const move = moveOf(before.status, template.status, caller, template.lastModifiedAt);
  publish(templateMoved, {
    ...move,
    entityId,
    moveId: moveId !== undefined && isUuid(moveId) ? moveId : move.moveId,
    comment: comment || null,
  });
  return events;
}

const moveOf = (from: Status, to: Status, { userId }: Caller, at: Date) => ({
  entityType: TEMPLATE_ENTITY_TYPE,
  moveId: newId(),
  previousState: nameOfStatus(from),
  newState: nameOfStatus(to),
  comment: null,
  movedAt: at.toISOString(),
  movedBy: userId,
});

/** A draft that an import wrote, by the columns of its template. */
export interface ImportedDraft {
  name: string;
  culture: string;
  category_name: string | null;
  draft_id: string;
}

/** Publishes what an import or its undo did, in the transaction of its batch. */
export async function publishImportedDrafts(
  tx: RawStatements,
  caller: Caller,
  {
    deleted,
    saved,
    moved,
  }: {
    deleted: { draft: ImportedDraft; gone: boolean }[];
    saved: ImportedDraft[];
    /** Also those that stayed in their state, of which nothing is published. */
    moved: { draft: ImportedDraft; from: Status; to: Status }[];
  },
): Promise<void> {
  const about = ({ name, culture, draft_id: revisionId }: ImportedDraft) => ({
    subject: entityIdOf({ name, culture: culture || undefined }),
    key: { name, culture: culture || null, revisionId },
  });
  const envelope = { tenantId: caller.tenantId, actor: caller };
  await appendToOutbox(
    tx,
    ...deleted.map(({ draft, gone }) => {
      const { subject, key } = about(draft);
      return { ...envelope, type: templateDeleted, subject, payload: { ...key, gone } };
    }),
  );
  await appendToOutbox(
    tx,
    ...saved.map((draft) => {
      const { subject, key } = about(draft);
      return {
        ...envelope,
        type: templateSaved,
        subject,
        payload: { ...key, category: draft.category_name },
      };
    }),
  );
  const now = new Date();
  await appendToOutbox(
    tx,
    ...moved
      .filter(({ from, to }) => from !== to)
      .map(({ draft, from, to }) => {
        const { subject } = about(draft);
        const payload = { ...moveOf(from, to, caller, now), entityId: subject };
        return { ...envelope, type: templateMoved, subject, payload };
      }),
  );
}
