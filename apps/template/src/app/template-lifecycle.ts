import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import type { Clock } from '@plinth/kernel/clock';
import type { Precondition } from '@plinth/kernel/entity-tag';
import { Problem } from '@plinth/kernel/problem';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';
import type { Operation } from '@plinth/runtime/postgres/run-once';
import { savedMeanwhile, templateDoesNotParse } from '../domain/problems';
import {
  availableTransitions,
  isApprovalNeeded,
  move,
  objectionTo,
  publish,
  statuses,
  textVersionOf,
  unpublish,
  type Template,
} from '../domain/template';
import type { TemplateKey } from '../domain/template-key';
import type { TemplateSettings } from '../grpc/template-settings';
import type { TemplateStore } from '../store/template-store';
import type { TemplateRenderer } from './renderer';

export interface TemplateLifecycle {
  /** @throws Problem where the template has errors, or its lifecycle does not allow it, or it is not as it was read. */
  publish(caller: Caller, key: TemplateKey, precondition?: Precondition): Promise<void>;
  /** @throws Problem where nothing is published. */
  unpublish(caller: Caller, key: TemplateKey): Promise<void>;
  /** The template, and where this caller could move it now. */
  transitions(
    caller: Caller,
    key: TemplateKey,
  ): Promise<{ template: Template; needsApproval: boolean; available: Status[]; blocked: Objection[] }>;
  /** The template, and why this caller could not move it to other statuses; undefined where there is none. */
  objections(
    caller: Caller,
    key: TemplateKey,
  ): Promise<{ template: Template; objections: Objection[] } | undefined>;
  /** Makes a transition that the workflow service has decided; `actor` is the person who made it. */
  move(caller: Caller, key: TemplateKey, transition: TemplateTransition): Promise<MoveResult>;
}

/** Why a move is not possible. */
interface Objection {
  to: Status;
  problem: Problem;
}

export interface TemplateTransition {
  actor: Caller;
  from: Status | undefined;
  to: Status;
  /** A repeated operation moves the template once. */
  operationId: string;
  comment: string;
  /** The version of the text that was approved; empty for any. */
  version: string;
  /** After which the template is not moved any more. */
  notAfter?: Date | undefined;
}

export type MoveResult =
  | { kind: 'moved'; status: Status; movedBy: string }
  /** The template is not in the status that the transition leaves, or it is too late; undefined where there is no template. */
  | { kind: 'status-changed'; status: Status | undefined }
  /** The text is another than the approved one. */
  | { kind: 'version-changed'; status: Status }
  | { kind: 'refused'; status: Status; problem: Problem };

interface LifecycleDeps {
  templates: TemplateStore;
  renderer: TemplateRenderer;
  settings: TemplateSettings;
  clock: Clock;
}

/** Moves templates through their lifecycle, by HTTP and on behalf of the workflow service. */
export function templateLifecycle({
  templates,
  renderer,
  settings,
  clock,
}: LifecycleDeps): TemplateLifecycle {
  /** The setting of the tenant is read only where the template leaves it open. */
  const needsApproval = async (tenantId: string, template: Template): Promise<boolean> =>
    isApprovalNeeded(
      template,
      template.requiresApproval === undefined && (await settings.isApprovalRequired(tenantId)),
    );

  const requireParsable = async (owner: ShareOwner, { draft, culture }: Template): Promise<void> => {
    if (!draft) return;
    const { errors } = await renderer.analyze(owner, draft.content, 'newest', culture);
    if (errors.length > 0) throw templateDoesNotParse(errors);
  };

  /** Who made a change before, which is refused now: what it is refused for may have come after that. */
  const findExecuted = async (operation: Operation, error: unknown) =>
    error instanceof Problem && !problemOfDatabase(error) ? templates.findExecuted(operation) : undefined;

  return {
    async publish(caller, key, precondition) {
      try {
        const template = await templates.get(caller.tenantId, key);
        const approval = await needsApproval(caller.tenantId, template);
        await requireParsable(caller, template);
        await templates.change(
          caller,
          key,
          (current) => {
            requireChecked(template, current!);
            return publish(current!, approval, { caller, at: clock.now() });
          },
          { mustExist: true, precondition },
        );
      } catch (error) {
        if (!(await findExecuted(caller, error))) throw error;
      }
    },

    async unpublish(caller, key) {
      await templates.change(caller, key, (current) => unpublish(current!, { caller, at: clock.now() }), {
        mustExist: true,
      });
    },

    async transitions(caller, key) {
      const template = await templates.get(caller.tenantId, key);
      const approval = await needsApproval(caller.tenantId, template);
      const available = availableTransitions(template, caller, approval);
      const blocked = objectionsOf(template, caller, approval);
      return { template, needsApproval: approval, available, blocked };
    },

    async objections(caller, key) {
      const template = await templates.find(caller.tenantId, key);
      if (!template) return undefined;
      const approval = await needsApproval(caller.tenantId, template);
      return { template, objections: objectionsOf(template, caller, approval) };
    },

    async move(caller, key, { actor, from, to, operationId, comment, version, notAfter }) {
      const operation = { tenantId: actor.tenantId, operationId };
      const moved = (by: string | undefined): MoveResult => ({
        kind: 'moved',
        status: to,
        movedBy: by ?? actor.userId,
      });
      const template = await templates.find(caller.tenantId, key);
      if (!template) {
        const executed = await templates.findExecuted(operation);
        return executed ? moved(executed.changedBy) : { kind: 'status-changed', status: undefined };
      }
      const approval = await needsApproval(caller.tenantId, template);
      try {
        if (to === Status.Published) await requireParsable(caller, template);
        const { changedBy } = await templates.change(
          actor,
          key,
          (current) => {
            const at = clock.now();
            if (!current || current.isGone || current.status !== from) throw new StatusChanged(current);
            // Its request for approval may have ended without it.
            if (notAfter && at > notAfter) throw new StatusChanged(current);
            if (version && textVersionOf(current) !== version) throw new VersionChanged(current.status);
            if (to === Status.Published) requireChecked(template, current);
            return move(current, to, approval, { caller: actor, at });
          },
          { operationId, comment },
        );
        return moved(changedBy);
      } catch (error) {
        if (error instanceof StatusChanged) return { kind: 'status-changed', status: error.template?.status };
        if (error instanceof VersionChanged) return { kind: 'version-changed', status: error.status };
        const executed = await findExecuted(operation, error);
        if (executed) return moved(executed.changedBy);
        if (!(error instanceof Problem) || !['forbidden', 'conflict', 'invalid'].includes(error.kind))
          throw error;
        return { kind: 'refused', status: template.status, problem: error };
      }
    },
  };
}

/** Only the draft that was checked is published. @throws Problem where it was saved meanwhile */
function requireChecked(checked: Template, current: Template): void {
  if (current.draft && current.draft.id !== checked.draft?.id) throw savedMeanwhile(current);
}

const objectionsOf = (template: Template, caller: Caller, approval: boolean): Objection[] =>
  statuses
    .filter((to) => to !== template.status)
    .flatMap((to) => {
      const problem = objectionTo(template, to, caller, approval);
      return problem ? [{ to, problem }] : [];
    });

class StatusChanged extends Error {
  constructor(readonly template: Template | undefined) {
    super('The template is not in the status that the transition leaves.');
  }
}

class VersionChanged extends Error {
  constructor(readonly status: Status) {
    super('The text is another than the one that was approved.');
  }
}
