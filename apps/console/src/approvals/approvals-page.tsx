import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, ChevronDown, ChevronUp, CircleCheckBig } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { cultureQuery, templateOf } from '../api/templates';
import { approvalsQuery, workflowStatusQuery, type Approval } from '../api/workflow';
import { Button } from '../components/button';
import { Page } from '../components/page';
import { PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { Badge, Callout, EmptyState, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { stateName, transitionName as nameOfTransition } from '../entities/state-name';
import { useTexts } from '../texts/texts';

const DecisionForm = lazyPart(
  () => import('./decision-form'),
  ({ DecisionForm }) => DecisionForm,
);

const Evidence = lazyPart(
  () => import('./evidence'),
  ({ Evidence }) => Evidence,
);

/** What waits for the decision of this person, the oldest first. */
export function ApprovalsPage() {
  const { t } = useTexts();
  const query = useInfiniteQuery(approvalsQuery);
  // Of one request at a time: each follows its entity.
  const [opened, setOpened] = useState<string>();
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
        {(approvals) =>
          approvals.map((approval) => (
            <ApprovalCard
              key={approval.id}
              approval={approval}
              showsEvidence={approval.id === opened}
              onEvidence={(isShown) => setOpened(isShown ? approval.id : undefined)}
            />
          ))
        }
      </PagedList>
    </Page>
  );
}

interface ApprovalCardProps {
  approval: Approval;
  showsEvidence: boolean;
  onEvidence: (isShown: boolean) => void;
}

function ApprovalCard({ approval, showsEvidence, onEvidence }: ApprovalCardProps) {
  const texts = useTexts();
  const { t, relative } = texts;
  const queries = useQueryClient();
  const { id, entityType, entityId, transitionName, formerState, targetState } = approval;
  const template = templateOf(approval);
  // A text that is changed ends no request by itself, as a move does.
  const { data: status } = useQuery({
    ...workflowStatusQuery({ entityType, entityId }),
    enabled: template !== undefined,
    refetchInterval: showsEvidence && 30_000,
  });
  const hasMoved = status != null && status.currentState !== PENDING_APPROVAL;
  const isOvertaken = hasMoved && status.currentState !== targetState;
  useEffect(() => {
    // Others may have decided: then it waits for nobody any longer.
    if (hasMoved)
      void queries.invalidateQueries({ queryKey: approvalsQuery.queryKey }, { cancelRefetch: false });
  }, [hasMoved, queries]);
  return (
    <article className="panel padded stack" aria-labelledby={id}>
      <div className="row spread">
        <h2 id={id}>
          {nameOfTransition(texts, transitionName)} ·{' '}
          <Link to="/entities/$entityType/$entityId" params={{ entityType, entityId }}>
            {entityType} {entityId}
          </Link>
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
      </div>
      <div className="row">
        <Button aria-expanded={showsEvidence} onPress={() => onEvidence(!showsEvidence)}>
          {t('Console.approvals.evidence')}
          {showsEvidence ? <ChevronUp aria-hidden /> : <ChevronDown aria-hidden />}
        </Button>
        {template && (
          <Link
            to="/templates/$name"
            params={{ name: template.name }}
            search={{ ...cultureQuery(template.culture), view: 'revisions' }}
          >
            {t('Console.approvals.changes')}
          </Link>
        )}
      </div>
      {isOvertaken && (
        <Callout tone="warn" title={t('Console.approvals.overtaken')}>
          {t('Console.approvals.overtakenHelp')}
        </Callout>
      )}
      {showsEvidence && (
        <Suspense fallback={<Skeleton lines={3} height="4rem" />}>
          <Evidence entity={{ entityType, entityId }} />
        </Suspense>
      )}
      <Suspense fallback={<Skeleton lines={2} height="4.5rem" />}>
        <DecisionForm approval={approval} />
      </Suspense>
    </article>
  );
}
