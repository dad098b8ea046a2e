import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import { holds, type Caller } from '@plinth/kernel/caller';
import { forbidden, type Problem } from '@plinth/kernel/problem';
import {
  approvalNotWaived,
  draftNotFound,
  nothingToPublish,
  reviewNeeded,
  reviewNotNeeded,
  submittedByCaller,
  templateNotPublished,
  transitionNotPossible,
} from './problems';
import type { TemplateKey } from './template-key';

/** Of one template; its draft and what is published stay however old they are. */
export const REVISIONS_KEPT = 500;

/** The same where the quota of a tenant has no room. */
export const REVISIONS_KEPT_WITHOUT_ROOM = 20;

/** The media type of a template that is saved without one. */
export const DEFAULT_MIME_TYPE = 'text/html';

export interface Revision {
  id: string;
  /** Counts the revisions of a template from 1. */
  number: number;
  status: Status;
  mimeType: string;
  content: string;
  createdAt: Date;
  createdBy: string;
  publishedAt: Date | undefined;
  publishedBy: string | undefined;
}

export interface Template extends TemplateKey {
  id: string;
  category: string | undefined;
  /** Undefined leaves it to the setting of the tenant. */
  requiresApproval: boolean | undefined;
  status: Status;
  draft: Revision | undefined;
  published: Revision | undefined;
  submittedBy: string | undefined;
  /** Only its history is left. */
  isGone: boolean;
  lastModifiedAt: Date;
  lastModifiedBy: string;
  version: number;
  /** The number of the newest revision. */
  revisions: number;
}

/** A template after a change, and those of its revisions whose status changed or that are new. */
export interface Step {
  template: Template;
  revisions: Revision[];
}

/** On whose behalf a template changes, and when. */
export interface Actor {
  caller: Caller;
  at: Date;
}

interface Move {
  from: Status;
  to: Status;
  permission: 'Templating.Templates.Manage' | 'Templating.Templates.Publish';
  /** It has no endpoint of its own, only a transition of the workflow service. */
  throughWorkflow?: true;
  needsApproval?: boolean;
}

/** The whole lifecycle; other moves are not possible. */
const moves: readonly Move[] = [
  {
    from: Status.Draft,
    to: Status.PendingReview,
    permission: 'Templating.Templates.Manage',
    throughWorkflow: true,
    needsApproval: true,
  },
  {
    from: Status.Draft,
    to: Status.Published,
    permission: 'Templating.Templates.Publish',
    needsApproval: false,
  },
  {
    from: Status.PendingReview,
    to: Status.Draft,
    permission: 'Templating.Templates.Manage',
    throughWorkflow: true,
  },
  { from: Status.PendingReview, to: Status.Published, permission: 'Templating.Templates.Publish' },
  { from: Status.Published, to: Status.Draft, permission: 'Templating.Templates.Publish' },
  {
    from: Status.Published,
    to: Status.Archived,
    permission: 'Templating.Templates.Publish',
    throughWorkflow: true,
  },
];

/** Names the text that an approver decides about. */
export const textVersionOf = ({ draft, published }: Template): string => (draft ?? published)?.id ?? '';

export const isApprovalNeeded = (template: Template, ofTenant: boolean): boolean =>
  template.requiresApproval ?? ofTenant;

/** Where this caller could take the template now. */
export function availableTransitions(template: Template, caller: Caller, approval: boolean): Status[] {
  return moves
    .filter(({ from }) => from === template.status)
    .filter(({ throughWorkflow }) => !throughWorkflow || holds(caller, 'Workflow.Transitions.Execute'))
    .filter(({ to }) => objectionTo(template, to, caller, approval) === undefined)
    .map(({ to }) => to)
    .sort();
}

/** Why a move is not possible, as the problem that it would end in; undefined when it is. */
export function objectionTo(
  template: Template,
  to: Status,
  caller: Caller,
  approval: boolean,
): Problem | undefined {
  const move = moves.find((one) => one.from === template.status && one.to === to);
  if (!move) return noSuchMove(template, to);
  if (move.needsApproval === true && !approval) {
    return reviewNotNeeded(template);
  }
  if (move.needsApproval === false && approval) {
    return reviewNeeded(template);
  }
  const returnsOwn = to === Status.Draft && template.submittedBy === caller.userId;
  const mayReturn =
    template.status === Status.PendingReview &&
    to === Status.Draft &&
    holds(caller, 'Templating.Templates.Publish');
  if (!holds(caller, move.permission) && !returnsOwn && !mayReturn) {
    return forbidden(`This requires the permission ${move.permission}.`);
  }
  if (
    template.status === Status.PendingReview &&
    to === Status.Published &&
    template.submittedBy === caller.userId
  ) {
    return submittedByCaller(template);
  }
  return undefined;
}

function noSuchMove(template: Template, to: Status): Problem {
  if (to === Status.Published) return nothingToPublish(template);
  if (to === Status.Draft) return templateNotPublished(template);
  return transitionNotPossible(template, nameOfStatus(template.status), nameOfStatus(to));
}

export interface Saving extends TemplateKey {
  content: string;
  /** Undefined leaves them as they are. */
  mimeType: string | undefined;
  category: string | null | undefined;
  requiresApproval: boolean | null | undefined;
}

/**
 * What a caller may choose about the approval of a template. Only those who may change the setting take away the approval
 * that a template needs: it binds the people who write templates and publish them. Where it needs none, the choice of all
 * others that it needs none leaves it to the setting, since that may need approval by the day of the publication.
 * @param ofTenant what the setting of the tenant says
 * @throws Problem `forbidden`
 */
export function chooseApproval(
  current: Template | undefined,
  { requiresApproval: chosen }: Pick<Saving, 'requiresApproval'>,
  ofTenant: boolean,
  caller: Caller,
): Saving['requiresApproval'] {
  if (chosen === undefined || holds(caller, WAIVE_PERMISSION)) return chosen;
  const isTakenAway = chosen !== true && (current?.requiresApproval ?? (ofTenant && chosen === false));
  if (isTakenAway) throw approvalNotWaived(WAIVE_PERMISSION);
  return chosen === false ? undefined : chosen;
}

/** Whoever has it may switch the approval of all templates off. */
const WAIVE_PERMISSION = 'Settings.Tenant.Manage';

/** Saves a text as the new draft; the former draft stays in the history. `ids` are for what is new. */
export function save(
  current: Template | undefined,
  { content, mimeType, category, requiresApproval, ...key }: Saving,
  ids: { template: string; revision: string },
  { caller, at }: Actor,
): Step {
  const previous = current?.draft ?? current?.published;
  const existing = current?.isGone ? undefined : current;
  const draft: Revision = {
    id: ids.revision,
    number: (current?.revisions ?? 0) + 1,
    status: Status.Draft,
    mimeType: mimeType ?? (existing ? previous?.mimeType : undefined) ?? DEFAULT_MIME_TYPE,
    content,
    createdAt: at,
    createdBy: caller.userId,
    publishedAt: undefined,
    publishedBy: undefined,
  };
  const template: Template = {
    ...key,
    id: current?.id ?? ids.template,
    category: category === undefined ? existing?.category : (category ?? undefined),
    requiresApproval:
      requiresApproval === undefined ? current?.requiresApproval : (requiresApproval ?? undefined),
    status: Status.Draft,
    draft,
    published: current?.published,
    submittedBy: undefined,
    isGone: false,
    lastModifiedAt: at,
    lastModifiedBy: caller.userId,
    version: (current?.version ?? 0) + 1,
    revisions: draft.number,
  };
  return { template, revisions: [...archived(current?.draft), draft] };
}

/** Makes the draft the published revision. @throws Problem */
export function publish(template: Template, approval: boolean, actor: Actor): Step {
  // A draft stands beside a published revision, so it is the draft that decides, not what is published.
  const objection = objectionTo(template, Status.Published, actor.caller, approval);
  if (objection || !template.draft) throw objection ?? noSuchMove(template, Status.Published);
  const published: Revision = {
    ...template.draft,
    status: Status.Published,
    publishedAt: actor.at,
    publishedBy: actor.caller.userId,
  };
  return {
    template: {
      ...touched(template, actor),
      status: Status.Published,
      draft: undefined,
      published,
      submittedBy: undefined,
    },
    revisions: [...archived(template.published), published],
  };
}

/** Takes the published revision back: it is the draft again, or archived where a newer draft is there. @throws Problem */
export function unpublish(template: Template, actor: Actor): Step {
  const { published } = template;
  if (!published) throw noSuchMove(template, Status.Draft);
  if (template.draft) {
    return {
      template: { ...touched(template, actor), published: undefined },
      revisions: archived(published),
    };
  }
  const draft: Revision = {
    ...published,
    status: Status.Draft,
    publishedAt: undefined,
    publishedBy: undefined,
  };
  return {
    template: { ...touched(template, actor), status: Status.Draft, draft, published: undefined },
    revisions: [draft],
  };
}

/** Deletes the draft. What is published stays; where nothing is, the template is gone. @throws Problem */
export function deleteDraft(template: Template, actor: Actor): Step {
  if (!template.draft) throw draftNotFound(template);
  const rest = { ...touched(template, actor), draft: undefined, submittedBy: undefined };
  const gone = {
    ...rest,
    status: Status.Archived,
    isGone: true,
    category: undefined,
    // It must not be enough to delete a template and make it again.
    requiresApproval: template.requiresApproval || undefined,
  };
  return {
    template: template.published ? { ...rest, status: Status.Published } : gone,
    revisions: archived(template.draft),
  };
}

/** Makes any move of the lifecycle, as a transition of the workflow service. @throws Problem */
export function move(template: Template, to: Status, approval: boolean, actor: Actor): Step {
  const objection = objectionTo(template, to, actor.caller, approval);
  if (objection) throw objection;
  if (to === Status.Published) return publish(template, approval, actor);
  if (template.status === Status.Published && to === Status.Draft) return unpublish(template, actor);
  if (to === Status.Archived) {
    return {
      template: { ...touched(template, actor), status: to, published: undefined },
      revisions: archived(template.published),
    };
  }
  const draft: Revision = { ...template.draft!, status: to };
  const submittedBy = to === Status.PendingReview ? actor.caller.userId : undefined;
  return { template: { ...touched(template, actor), status: to, draft, submittedBy }, revisions: [draft] };
}

const statusNames = Object.keys(Status) as (keyof typeof Status)[];

export const statuses: readonly Status[] = statusNames.map((name) => Status[name]);

/** The status as events and the workflow service name it. */
export const nameOfStatus = (status: Status): string => statusNames.find((name) => Status[name] === status)!;

export function statusOfName(wanted: string): Status | undefined {
  const name = statusNames.find((one) => one === wanted);
  return name && Status[name];
}

const archived = (revision: Revision | undefined): Revision[] =>
  revision ? [{ ...revision, status: Status.Archived }] : [];

const touched = (template: Template, { caller, at }: Actor): Template => ({
  ...template,
  lastModifiedAt: at,
  lastModifiedBy: caller.userId,
  version: template.version + 1,
});
