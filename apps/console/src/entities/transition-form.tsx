import { useQueryClient } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { moveEntity, type Entity, type TransitionResult, type WorkflowStatus } from '../api/workflow';
import { Button } from '../components/button';
import { Announced, Badge, Callout, Failure } from '../components/state';
import { useStoredState } from '../components/stored-state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { draftName } from './draft-name';
import { stateName, transitionName } from './state-name';

/** The state of an entity, and what may become of it by this person. */
export function TransitionForm({ entity, status }: { entity: Entity; status: WorkflowStatus }) {
  const texts = useTexts();
  const { t } = texts;
  const caller = useCaller();
  const queries = useQueryClient();
  const [result, setResult] = useState<TransitionResult>();
  const [comment, setComment] = useStoredState(draftName('reason', caller, entity), '');
  const form = useContractForm({
    shape: 'transitionRequest',
    defaultValues: { comment, targetState: '' },
    send: async (values) => {
      const moved = await moveEntity(entity, values);
      setResult(moved);
      if (moved.succeeded) {
        // What was written meanwhile is for the next change.
        setComment((kept) => (kept === values.comment ? '' : kept));
        if (form.values().comment === values.comment) form.reset({ comment: '', targetState: '' });
      }
      // Beside what it waits for: the next change is one of the state that it leads to.
      void queries.invalidateQueries({ queryKey: ['timeline', entity.entityType, entity.entityId] });
      void queries.invalidateQueries({ queryKey: ['approvals'] });
      await queries.invalidateQueries({ queryKey: ['workflow', entity.entityType, entity.entityId] });
    },
  });
  const mayMove = mayDo(caller, 'Workflow.Transitions.Execute');
  return (
    <section className="panel padded stack" aria-labelledby="state">
      <div className="row spread">
        <h2 id="state">{t('Workflow.fields.currentState')}</h2>
        <Badge tone="accent">{stateName(texts, status.currentState)}</Badge>
      </div>
      {status.availableTransitions.length === 0 ? (
        <p className="soft">{t('Console.entities.final')}</p>
      ) : (
        <ul className="transitions">
          {status.availableTransitions.map(({ name, targetState, allowed, requiresApproval, reasons }) => (
            <li key={`${name} ${targetState}`}>
              <Button
                isDisabled={!allowed || !mayMove}
                isPending={form.isPending}
                onPress={() => form.submit({ targetState })}
              >
                {transitionName(texts, name)}
                <ArrowRight aria-hidden />
                {stateName(texts, targetState)}
              </Button>
              <span className="soft small">
                {allowed ? requiresApproval && t('Workflow.fields.requiresApproval') : reasons.join(' ')}
              </span>
            </li>
          ))}
        </ul>
      )}
      {mayMove && status.availableTransitions.some(({ allowed }) => allowed) && (
        <Form form={form} className="stack">
          <FormField
            form={form}
            name="comment"
            label={t('Console.entities.reason')}
            isMultiline
            onWrite={setComment}
          />
        </Form>
      )}
      {form.failure && <Failure error={form.failure} />}
      <Announced>
        {result && <Callout tone={tones[result.outcome]} title={t(`Workflow.outcomes.${result.outcome}`)} />}
      </Announced>
    </section>
  );
}

const tones: Record<TransitionResult['outcome'], 'good' | 'info' | 'warn'> = {
  Completed: 'good',
  ApprovalRequested: 'info',
  Denied: 'warn',
  InvalidTransition: 'warn',
};
