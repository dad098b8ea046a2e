import fc from 'fast-check';
import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import {
  availableTransitions,
  deleteDraft,
  move,
  publish,
  save,
  unpublish,
  type Revision,
  type Step,
  type Template,
} from './template';

const tenantId = '01900000-0000-7000-8000-000000000001';
const at = new Date('2026-11-21T12:00:00Z');
const people: Caller[] = ['ada', 'bob'].map((userId) => ({
  tenantId,
  userId,
  userName: userId,
  permissions: ['*'],
}));

/** A template and its revisions, as a store would save them. */
class History {
  template: Template | undefined;
  revisions = new Map<string, Revision>();
  submittedBy: string | undefined;

  save({ template, revisions }: Step): void {
    this.template = template;
    for (const revision of revisions) {
      const known = this.revisions.get(revision.id);
      if (known)
        expect({
          ...revision,
          status: known.status,
          publishedAt: known.publishedAt,
          publishedBy: known.publishedBy,
        }).toEqual(known);
      this.revisions.set(revision.id, revision);
    }
  }
}

type Action =
  | { kind: 'save' }
  | { kind: 'publish' }
  | { kind: 'unpublish' }
  | { kind: 'delete' }
  | { kind: 'move'; to: Status };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.constantFrom<Action>({ kind: 'save' }, { kind: 'publish' }, { kind: 'unpublish' }, { kind: 'delete' }),
  fc.constantFrom(...Object.values(Status)).map((to): Action => ({ kind: 'move', to })),
);

describe('the lifecycle of a template', () => {
  it('keeps its invariants in every order of actions', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(action, fc.nat(1), fc.boolean()), { maxLength: 30 }), (actions) => {
        const history = new History();
        for (const [one, person, approval] of actions) {
          const actor = { caller: people[person]!, at };
          const before = history.template;
          const couldPublish =
            before && availableTransitions(before, actor.caller, approval).includes(Status.Published);
          try {
            history.save(step(history, one, actor, approval));
          } catch (error) {
            expect(error).toBeInstanceOf(Problem);
            expect(history.template).toBe(before);
            if (one.kind === 'publish' && before) expect(couldPublish && before.draft).toBeFalsy();
            continue;
          }
          check(history, before, one, actor.caller, approval);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  function step(history: History, one: Action, actor: { caller: Caller; at: Date }, approval: boolean): Step {
    const { template } = history;
    const number = history.revisions.size + 1;
    if (one.kind === 'save') {
      const saving = {
        name: 'a',
        culture: undefined,
        content: `v${number}`,
        mimeType: undefined,
        category: undefined,
        requiresApproval: undefined,
      };
      return save(template, saving, { template: 'template', revision: `r${number}` }, actor);
    }
    if (!template || template.isGone) throw new Problem('not-found', 'There is none.');
    if (one.kind === 'publish') return publish(template, approval, actor);
    if (one.kind === 'unpublish') return unpublish(template, actor);
    if (one.kind === 'delete') return deleteDraft(template, actor);
    return move(template, one.to, approval, actor);
  }

  function check(
    history: History,
    before: Template | undefined,
    one: Action,
    caller: Caller,
    approval: boolean,
  ): void {
    const template = history.template!;
    const all = [...history.revisions.values()];
    const drafts = all.filter(({ status }) => status === Status.Draft || status === Status.PendingReview);
    const published = all.filter(({ status }) => status === Status.Published);

    // History and template agree: one draft and one published revision at most.
    expect(drafts.map(({ id }) => id)).toEqual(template.draft ? [template.draft.id] : []);
    expect(published.map(({ id }) => id)).toEqual(template.published ? [template.published.id] : []);
    expect(template.status).toBe(template.draft?.status ?? template.published?.status ?? Status.Archived);
    expect(template.isGone).toBe(one.kind === 'delete' && !template.published);
    expect(template.version).toBe((before?.version ?? 0) + 1);
    expect(published.every(({ publishedAt, publishedBy }) => publishedAt && publishedBy)).toBe(true);

    const wasPublished = template.status === Status.Published && before?.draft?.id === template.published?.id;
    if (!wasPublished || before?.published?.id === template.published?.id) return;
    // Where approval is needed, another person submitted the published draft.
    if (approval) expect(before!.status).toBe(Status.PendingReview);
    if (before!.status === Status.PendingReview) expect(before!.submittedBy).not.toBe(caller.userId);
  }
});
