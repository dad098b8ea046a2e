import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { approvalsQuery, moveEntity, type Approval, type TransitionResult } from '../api/workflow';
import { Button } from '../components/button';
import { Callout, Failure } from '../components/state';
import { useStoredState } from '../components/stored-state';
import { draftName } from '../entities/draft-name';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';

/** Approves or denies, with what is said to it. */
export function DecisionForm({ approval, onDecided }: { approval: Approval; onDecided: () => void }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const [refusal, setRefusal] = useState<TransitionResult['outcome']>();
  const { formerState, targetState } = approval;
  const [comment, setComment] = useStoredState(draftName('reason', useCaller(), approval, approval.id), '');
  const form = useContractForm({
    shape: 'transitionRequest',
    defaultValues: { comment, targetState },
    send: async (values) => {
      const { succeeded, outcome } = await moveEntity(approval, values, approval.id);
      if (succeeded) {
        onDecided();
        setComment('');
      }
      setRefusal(succeeded ? undefined : outcome);
      // Also where somebody else was first: then it waits no longer, and the page says so.
      await queries.invalidateQueries({ queryKey: approvalsQuery.queryKey });
    },
  });
  return (
    <Form form={form} className="stack">
      <FormField
        form={form}
        name="comment"
        label={t('Console.approvals.comment')}
        isMultiline
        onWrite={setComment}
      />
      {form.failure && <Failure error={form.failure} />}
      {refusal && <Callout tone="warn" title={t(`Workflow.outcomes.${refusal}`)} />}
      <div className="row">
        <Button look="primary" isPending={form.isPending} onPress={() => form.submit({ targetState })}>
          {t('Platform.actions.approve')}
        </Button>
        <Button
          look="danger"
          isPending={form.isPending}
          onPress={() => form.submit({ targetState: formerState })}
        >
          {t('Platform.actions.deny')}
        </Button>
      </div>
    </Form>
  );
}
