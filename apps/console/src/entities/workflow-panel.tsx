import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import {
  definitionQuery,
  workflow,
  workflowStatusQuery,
  type Entity,
  type TransitionResult,
} from '../api/workflow';
import { Button } from '../components/button';
import { itemsOf, LoadMore } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { Badge, Callout, Failure, Skeleton, type BadgeTone } from '../components/state';
import { TextField } from '../components/text-field';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { stateName, transitionName } from './state-name';

const StateGraph = lazy(async () => ({ default: (await import('../workflows/state-graph')).StateGraph }));

/** The state of an entity, what may become of it and why not, and how it came here. */
export function WorkflowPanel({ entity }: { entity: Entity }) {
  const { t } = useTexts();
  const caller = useCaller();
  const { data: status, error, refetch } = useQuery(workflowStatusQuery(entity));
  if (status === null) return null;
  return (
    <aside className="stack" aria-label={t('Platform.areas.workflow')}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!status && !error && <Skeleton lines={3} height="2.4rem" />}
      {status && <State entity={entity} status={status} />}
      {status && <Picture entity={entity} status={status} />}
      {mayDo(caller, 'Workflow.History.Read') && <History entity={entity} />}
    </aside>
  );
}

type Status = NonNullable<
  Awaited<ReturnType<NonNullable<ReturnType<typeof workflowStatusQuery>['queryFn']>>>
>;

function State({ entity, status }: { entity: Entity; status: Status }) {
  const texts = useTexts();
  const { t } = texts;
  const caller = useCaller();
  const queries = useQueryClient();
  const [comment, setComment] = useState('');
  const move = useMutation({
    mutationFn: async ({ targetState, comment: said }: { targetState: string; comment: string }) => {
      const body = { targetState, ...(said.trim() ? { comment: said.trim() } : {}) };
      return (await workflow.postTransition({ params: entity, body })).body;
    },
    onSuccess: async ({ succeeded }, sent) => {
      // What was written meanwhile is for the next change.
      if (succeeded) setComment((latest) => (latest === sent.comment ? '' : latest));
      await queries.invalidateQueries({ queryKey: ['workflow', entity.entityType, entity.entityId] });
      await queries.invalidateQueries({ queryKey: ['timeline', entity.entityType, entity.entityId] });
      await queries.invalidateQueries({ queryKey: ['approvals'] });
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
                isDisabled={!allowed || !mayMove || move.isPending}
                onPress={() => move.mutate({ targetState, comment })}
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
        <TextField label={t('Console.entities.reason')} value={comment} onChange={setComment} isMultiline />
      )}
      {move.error && <Failure error={move.error} />}
      {move.data && <Outcome result={move.data} />}
    </section>
  );
}

/** All states, where the entity is now, and where it can go from here. */
function Picture({ entity, status }: { entity: Entity; status: Status }) {
  const texts = useTexts();
  const { t } = texts;
  const { data } = useQuery(definitionQuery(entity.entityType));
  if (!data) return null;
  const { definition } = data;
  const state = stateName(texts, status.currentState);
  return (
    <Suspense fallback={<Skeleton lines={3} height="4rem" />}>
      <StateGraph
        label={t('Console.workflows.pictureOf', { name: entity.entityType, state })}
        {...definition}
        emphasisOf={({ kind, index }) => {
          if (kind === 'state')
            return definition.states[index] === status.currentState ? 'current' : undefined;
          const { from, to } = definition.transitions[index]!;
          if (from !== status.currentState) return undefined;
          const offered = status.availableTransitions.find(({ targetState }) => targetState === to);
          return offered?.allowed ? 'possible' : 'blocked';
        }}
      />
    </Suspense>
  );
}

const tones: Record<TransitionResult['outcome'], 'good' | 'info' | 'warn'> = {
  Completed: 'good',
  ApprovalRequested: 'info',
  Denied: 'warn',
  InvalidTransition: 'warn',
};

function Outcome({ result }: { result: TransitionResult }) {
  const { t } = useTexts();
  return (
    <div role="status">
      <Callout tone={tones[result.outcome]} title={t(`Workflow.outcomes.${result.outcome}`)} />
    </div>
  );
}

function History({ entity }: { entity: Entity }) {
  const texts = useTexts();
  const { t } = texts;
  const query = useInfiniteQuery({
    queryKey: ['workflow', entity.entityType, entity.entityId, 'history'],
    queryFn: async ({ pageParam, signal }) =>
      (await workflow.getHistory({ params: entity, list: { cursor: pageParam, pageSize: 10 }, signal })).body,
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const moves = itemsOf(query.data) ?? [];
  if (query.error) return <Failure error={query.error} />;
  if (moves.length === 0) return null;
  const tone = (state: string): BadgeTone => (state === moves[0]?.newState ? 'accent' : undefined);
  return (
    <section className="panel padded stack" aria-labelledby="history">
      <h2 id="history">{t('Workflow.messages.history')}</h2>
      <ol className="history">
        {moves.map(({ previousState, newState, transitionedAt, transitionedBy, comment }, index) => (
          <li key={`${transitionedAt} ${index}`} className="stack tight">
            <span className="row move">
              {stateName(texts, previousState)}
              <ArrowRight aria-label="→" />
              <Badge tone={tone(newState)}>{stateName(texts, newState)}</Badge>
            </span>
            <span className="soft small">
              {transitionedBy} · <RelativeTime instant={transitionedAt} />
            </span>
            {comment && <blockquote>{comment}</blockquote>}
          </li>
        ))}
      </ol>
      <LoadMore query={query} />
    </section>
  );
}
