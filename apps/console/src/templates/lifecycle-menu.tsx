import { ApiProblem } from '@plinth/sdk/api-problem';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { Suspense, useRef, useState } from 'react';
import { cultureQuery, entityOf, lifecycleQuery, templates, type TemplateDetail } from '../api/templates';
import { workflow } from '../api/workflow';
import { useAfterPaint } from '../components/after-paint';
import { Button } from '../components/button';
import { EscapeWhileLoading } from '../components/escape-while-loading';
import { Announced, Badge, Callout, Failure } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { TemplateStatus } from './template-status';

const LifecycleSteps = lazyPart(
  () => import('./lifecycle-steps'),
  ({ LifecycleSteps }) => LifecycleSteps,
);

const Draft = 0;
const PendingReview = 1;
const Published = 2;
const Archived = 3;

export type Step = 'submit' | 'publish' | 'return' | 'unpublish' | 'archive' | 'delete';

/** Where each step leads. */
const targets: Record<Exclude<Step, 'delete'>, { from: number[]; to: number; name: string }> = {
  submit: { from: [Draft], to: PendingReview, name: 'PendingReview' },
  publish: { from: [Draft, PendingReview], to: Published, name: 'Published' },
  return: { from: [PendingReview], to: Draft, name: 'Draft' },
  unpublish: { from: [Published], to: Draft, name: 'Draft' },
  archive: { from: [Published], to: Archived, name: 'Archived' },
};
const steps = ['submit', 'publish', 'return', 'unpublish', 'archive'] as const;

interface LifecycleMenuProps {
  template: TemplateDetail & { etag?: string | undefined };
  /** Steps are taken with the text that is saved: those that show it to others wait for it. */
  hasUnsavedText: boolean;
}

/** The state of a template, what can become of it now, and why not what cannot. */
export function LifecycleMenu({ template, hasUnsavedText }: LifecycleMenuProps) {
  const { t, find } = useTexts();
  const caller = useCaller();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { name, culture } = template;
  const key = { name, culture };
  const { data: lifecycle, error } = useQuery({ ...lifecycleQuery(key), enabled: useAfterPaint() });
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const move = useMutation({
    mutationFn: async (step: Step) => {
      const address = { params: { name }, query: cultureQuery(culture) };
      // What was read, and nothing that was submitted or saved since.
      if (step === 'publish')
        return void (await templates.publishTemplate({ ...address, ifMatch: template.etag }));
      if (step === 'unpublish') return void (await templates.unpublishTemplate(address));
      if (step === 'delete')
        return void (await templates.deleteTemplate({ ...address, ifMatch: template.etag }));
      const body = { targetState: targets[step].name };
      const result = (await workflow.postTransition({ params: entityOf(key), body })).body;
      if (!result.succeeded) throw new Error(t(`Workflow.outcomes.${result.outcome}`));
    },
    onSuccess: async (_, step) => {
      setOpen(false);
      if (step === 'delete' && !template.published) await navigate({ to: '/templates' });
      await queries.invalidateQueries({ queryKey: ['templates'] });
    },
    // Somebody else changed it meanwhile, which is seen before the step is taken again.
    onError: (reason) => {
      if (reason instanceof ApiProblem && reason.slug === 'stale-version')
        void queries.invalidateQueries({ queryKey: ['templates'] });
    },
  });
  if (error) return <Failure error={error} />;
  if (!lifecycle) return <LifecyclePlace />;
  const { currentStatus, availableTransitions, blockedTransitions, workflowEnabled } = lifecycle;

  /** Why a step cannot be taken now; undefined where it can. */
  const objectionTo = (step: Step): string | undefined => {
    if (step === 'delete') {
      if (!mayDo(caller, 'Templating.Templates.Manage')) return t('Console.templates.readOnly');
      return template.draft ? undefined : t('Console.templates.lifecycle.noDraft');
    }
    const { from, to } = targets[step];
    if (!from.includes(currentStatus)) return t(`Console.templates.lifecycle.notNow.${step}`);
    if (availableTransitions.some((status) => status === to)) return undefined;
    const blocked = blockedTransitions.find(({ status }) => status === to);
    if (!blocked) return t('Console.templates.lifecycle.noWorkflow');
    return find(`Console.templates.lifecycle.blocked.${blocked.problem}`) ?? blocked.reason;
  };
  const first = steps.find((step) => objectionTo(step) === undefined);
  const waitsForText = (step: Step) => hasUnsavedText && (step === 'submit' || step === 'publish');
  const saveFirst = t('Console.templates.lifecycle.saveFirst');
  const shown: readonly Step[] = [...steps, 'delete'];
  return (
    <>
      <Announced>
        <TemplateStatus
          status={currentStatus}
          hasPublishedVersion={template.published !== undefined && template.draft !== undefined}
        />
      </Announced>
      {first && waitsForText(first) && <span className="soft small">{saveFirst}</span>}
      {first && (
        <Button
          // What takes back or puts away is not what most people come for.
          {...(first === 'submit' || first === 'publish' ? { look: 'primary' } : {})}
          isPending={move.isPending}
          isDisabled={waitsForText(first)}
          onPress={() => move.mutate(first)}
        >
          {t(`Console.templates.lifecycle.${first}`)}
        </Button>
      )}
      <Button ref={trigger} aria-haspopup="dialog" aria-expanded={isOpen} onPress={() => setOpen(true)}>
        {t('Console.templates.lifecycle.title')}
        <ChevronDown aria-hidden />
      </Button>
      {isOpen && (
        <Suspense fallback={<EscapeWhileLoading onEscape={() => setOpen(false)} />}>
          <LifecycleSteps
            steps={shown.map((step) => ({
              step,
              objection: objectionTo(step) ?? (waitsForText(step) ? saveFirst : undefined),
            }))}
            entity={entityOf(key)}
            needsApproval={workflowEnabled}
            isBusy={move.isPending}
            trigger={trigger}
            onClose={() => setOpen(false)}
            onChoose={(step) => move.mutate(step)}
          />
        </Suspense>
      )}
      {move.error && (
        <div className="full-row">
          {'problem' in move.error ? (
            <Failure error={move.error} />
          ) : (
            <Callout tone="warn" title={move.error.message} />
          )}
        </div>
      )}
    </>
  );
}

/** As large as the menu mostly is, so that nothing moves when it is there. */
export function LifecyclePlace() {
  const { t } = useTexts();
  return (
    <span className="row" style={{ visibility: 'hidden' }} aria-hidden>
      <Badge>{t('Templating.status.Draft')}</Badge>
      <span className="button">{t('Console.templates.lifecycle.publish')}</span>
      <span className="button">
        {t('Console.templates.lifecycle.title')}
        <ChevronDown />
      </span>
    </span>
  );
}
