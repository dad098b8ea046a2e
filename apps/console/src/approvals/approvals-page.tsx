import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, CircleCheckBig } from 'lucide-react';
import { useState } from 'react';
import { approvalsQuery, workflow, type Approval } from '../api/workflow';
import { Button } from '../components/button';
import { Page } from '../components/page';
import { PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { Badge, Callout, EmptyState, Failure } from '../components/state';
import { TextField } from '../components/text-field';
import { stateName, transitionName as nameOfTransition } from '../entities/state-name';
import { useTexts } from '../texts/texts';

/** What waits for the decision of this person, the oldest first. */
export function ApprovalsPage() {
  const { t } = useTexts();
  const query = useInfiniteQuery(approvalsQuery);
  return (
    <Page title={t('Console.approvals.title')} lead={t('Console.approvals.lead')}>
      <PagedList
        query={query}
        skeleton={{ lines: 4, height: '5rem' }}
        empty={
          <EmptyState icon={CircleCheckBig} title={t('Workflow.messages.waitingForYou', { count: 0 })}>
            {t('Console.approvals.noneHelp')}
          </EmptyState>
        }
      >
        {(approvals) => approvals.map((approval) => <ApprovalCard key={approval.id} approval={approval} />)}
      </PagedList>
    </Page>
  );
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const texts = useTexts();
  const { t, relative } = texts;
  const queries = useQueryClient();
  const [comment, setComment] = useState('');
  const { id, entityType, entityId, transitionName, formerState, targetState } = approval;
  const decide = useMutation({
    mutationFn: async (state: string) => {
      const body = { targetState: state, ...(comment.trim() ? { comment: comment.trim() } : {}) };
      return (await workflow.postTransition({ params: { entityType, entityId }, body })).body;
    },
    onSuccess: async ({ succeeded }) => {
      if (succeeded) await queries.invalidateQueries({ queryKey: approvalsQuery.queryKey });
    },
  });
  const refusal = decide.data && !decide.data.succeeded ? decide.data.outcome : undefined;
  return (
    <article className="panel padded stack" aria-labelledby={id}>
      <div className="row spread">
        <h2 id={id}>
          {nameOfTransition(texts, transitionName)} · {entityType} {entityId}
        </h2>
        <RelativeTime className="soft small" instant={approval.requestedAt} />
      </div>
      <div className="row">
        <span>{t('Console.approvals.asks', { name: approval.requestedByName })}</span>
        <span className="row move">
          <Badge>{stateName(texts, formerState)}</Badge>
          <ArrowRight aria-label="→" />
          <Badge tone="accent">{stateName(texts, targetState)}</Badge>
        </span>
      </div>
      {approval.comment && <blockquote>{approval.comment}</blockquote>}
      <div className="row soft small">
        {approval.approvalsNeeded > 1 && (
          <span>
            {t('Console.approvals.given', {
              given: approval.approvalsGiven,
              needed: approval.approvalsNeeded,
            })}
          </span>
        )}
        {approval.onBehalfOf && <span>{t('Console.approvals.onBehalf', { name: approval.onBehalfOf })}</span>}
        {approval.expiresAt && (
          <span>{t('Console.approvals.expires', { time: relative(approval.expiresAt) })}</span>
        )}
        <Link to="/entities/$entityType/$entityId" params={{ entityType, entityId }}>
          {t('Console.approvals.evidence')}
        </Link>
      </div>
      <TextField label={t('Console.approvals.comment')} value={comment} onChange={setComment} isMultiline />
      {decide.error && <Failure error={decide.error} />}
      {refusal && <Callout tone="warn" title={t(`Workflow.outcomes.${refusal}`)} />}
      <div className="row">
        <Button look="primary" isPending={decide.isPending} onPress={() => decide.mutate(targetState)}>
          {t('Platform.actions.approve')}
        </Button>
        <Button look="danger" isDisabled={decide.isPending} onPress={() => decide.mutate(formerState)}>
          {t('Platform.actions.deny')}
        </Button>
      </div>
    </article>
  );
}
