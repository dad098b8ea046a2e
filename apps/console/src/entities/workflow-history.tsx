import { useInfiniteQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { workflowHistoryQuery, type Entity } from '../api/workflow';
import { itemsOf, LoadMore } from '../components/paged-list';
import { usePersonNames } from '../components/person-names';
import { RelativeTime } from '../components/relative-time';
import { useShownError } from '../components/shown-error';
import { Badge, Failure, type BadgeTone } from '../components/state';
import { useTexts } from '../texts/texts';
import { stateName } from './state-name';

/** How an entity came to where it is, newest first. */
export function WorkflowHistory({ entity }: { entity: Entity }) {
  const texts = useTexts();
  const { t } = texts;
  const query = useInfiniteQuery(workflowHistoryQuery(entity));
  const error = useShownError(query);
  const moves = itemsOf(query.data) ?? [];
  const nameOf = usePersonNames(moves.map(({ transitionedBy }) => transitionedBy));
  if (error && moves.length === 0) return <Failure error={error} onRetry={query.refetch} />;
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
              {nameOf(transitionedBy)} · <RelativeTime instant={transitionedAt} />
            </span>
            {comment && <blockquote>{comment}</blockquote>}
          </li>
        ))}
      </ol>
      <LoadMore query={query} />
    </section>
  );
}
