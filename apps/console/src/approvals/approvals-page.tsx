import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, ChevronDown, ChevronUp, CircleCheckBig } from 'lucide-react';
import { Suspense, useDeferredValue, useEffect, useState } from 'react';
import { cultureQuery, templateOf } from '../api/templates';
import { approvalsQuery, workflowStatusQuery, type Approval } from '../api/workflow';
import { Button } from '../components/button';
import { Page } from '../components/page';
import { Later } from '../components/later';
import { itemsOf, PagedList } from '../components/paged-list';
import { usePersonNames } from '../components/person-names';
import { RelativeTime } from '../components/relative-time';
import { Announced, Badge, Callout, EmptyState, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { stateName, transitionName as nameOfTransition } from '../entities/state-name';
import { useTexts } from '../texts/texts';
import { afterDecision, afterReading, type Waited } from './gone';

const DecisionForm = lazyPart(
  () => import('./decision-form'),
  ({ DecisionForm }) => DecisionForm,
);

const Evidence = lazyPart(
  () => import('./evidence'),
  ({ Evidence }) => Evidence,
);

const Delegations = lazyPart(
  () => import('./delegations'),
  ({ Delegations }) => Delegations,
);

/** What waits for the decision of this person, the oldest first. */
export function ApprovalsPage() {
  const { t } = useTexts();
  const query = useInfiniteQuery(approvalsQuery);
  // With what waits: what is longer or shorter than its place would move what is below.
  const isRead = useDeferredValue(query.isFetched);
  // Of one request at a time: each follows its entity.
  const [opened, setOpened] = useState<string>();
  const [gone, { markDecided, forget }] = useGone(query.data);
  return (
    <Page title={t('Console.approvals.title')} lead={t('Console.approvals.lead')}>
      <Announced>{gone.length > 0 && <Gone approvals={gone} onClose={forget} />}</Announced>
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
              onDecided={() => markDecided(approval.id)}
            />
          ))
        }
      </PagedList>
      {isRead && (
        <Later place={<Skeleton lines={1} height="9rem" />}>
          <Delegations />
        </Later>
      )}
    </Page>
  );
}

type Pages = NonNullable<ReturnType<typeof useInfiniteQuery<{ items: Approval[] }>>['data']>;

/** What waited when the page was read before and waits no longer, without the decisions of this person. */
function useGone(data: Pages | undefined) {
  const [read, setRead] = useState(data);
  const [waited, setWaited] = useState<Waited<Approval>>({
    waiting: itemsOf(data) ?? [],
    gone: [],
    decided: new Set(),
  });
  if (data && data !== read) {
    setRead(data);
    setWaited(afterReading(waited, itemsOf(data)!));
  }
  const markDecided = (id: string) => setWaited((before) => afterDecision(before, id));
  const forget = () => setWaited((before) => ({ ...before, gone: [] }));
  return [waited.gone, { markDecided, forget }] as const;
}

/** Says what became of requests that others decided meanwhile: what was written to them goes nowhere. */
function Gone({ approvals, onClose }: { approvals: readonly Approval[]; onClose: () => void }) {
  const { t } = useTexts();
  return (
    <Callout title={t('Console.approvals.gone', { count: approvals.length })}>
      <div className="stack tight">
        <span>{t('Console.approvals.goneHelp', { count: approvals.length })}</span>
        <ul className="plain">
          {approvals.map(({ id, entityType, entityId }) => (
            <li key={id}>
              <Link to="/entities/$entityType/$entityId" params={{ entityType, entityId }}>
                {entityType} {entityId}
              </Link>
            </li>
          ))}
        </ul>
        <div>
          <Button onPress={onClose}>{t('Platform.actions.close')}</Button>
        </div>
      </div>
    </Callout>
  );
}

interface ApprovalCardProps {
  approval: Approval;
  showsEvidence: boolean;
  onEvidence: (isShown: boolean) => void;
  onDecided: () => void;
}

function ApprovalCard({ approval, showsEvidence, onEvidence, onDecided }: ApprovalCardProps) {
  const texts = useTexts();
  const { t, relative } = texts;
  const queries = useQueryClient();
  const { id, entityType, entityId, transitionName, formerState, targetState } = approval;
  const { onBehalfOf } = approval;
  const nameOf = usePersonNames(onBehalfOf === null ? [] : [onBehalfOf]);
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
        {onBehalfOf !== null && <span>{t('Console.approvals.onBehalf', { name: nameOf(onBehalfOf) })}</span>}
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
        <DecisionForm approval={approval} onDecided={onDecided} />
      </Suspense>
    </article>
  );
}
