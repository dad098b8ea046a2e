import {
  templateDeleted,
  templateGone,
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
  type ComparedChange,
  type NewEvent,
  type Writing,
} from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { entityIdOf, TEMPLATE_ENTITY_TYPE } from '../domain/entity-id';
import { nameOfStatus, type Step, type Template } from '../domain/template';

/**
 * Writes a change by its statements, and publishes what it did. Where the decisive statement finds that the template is
 * not as it was read, the others have nothing to do.
 */
export const writeStep = (
  tx: RawStatements,
  statements: ComparedChange,
  ...of: Parameters<typeof eventsOf>
): Writing => compareAndWrite(tx, statements, ...eventsOf(...of));

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

  if (template.isGone && before) publish(templateGone, goneOf([entityId]));

  // What is gone is where one begins that is made again under its name, of which no event says so.
  const statusAfter = template.isGone ? Status.Draft : template.status;
  if (!before || before.status === statusAfter) return events;
  const move = moveOf(before.status, statusAfter, caller, template.lastModifiedAt);
  publish(templateMoved, {
    ...move,
    entityId,
    moveId: moveId !== undefined && isUuid(moveId) ? moveId : move.moveId,
    comment: comment || null,
  });
  return events;
}

/** Their names may be long, and an event is bounded. */
const GONE_TOGETHER_MAX = 500;

const goneOf = (entityIds: string[]) => ({ entityType: TEMPLATE_ENTITY_TYPE, entityIds });

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
  const gone = deleted.filter((one) => one.gone).map(({ draft }) => about(draft).subject);
  for (let from = 0; from < gone.length; from += GONE_TOGETHER_MAX) {
    const some = gone.slice(from, from + GONE_TOGETHER_MAX);
    await appendToOutbox(tx, { ...envelope, type: templateGone, subject: some[0]!, payload: goneOf(some) });
  }
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
