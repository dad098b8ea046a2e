import { useQuery } from '@tanstack/react-query';
import { oldestUnfinishedQuery, type PlatformOperations } from '../api/operations';
import { useShownError } from '../components/shown-error';
import { Callout } from '../components/state';
import { useTexts } from '../texts/texts';
import { problemsOf, recentRequests } from './problems';

/** Whether it is us, and what: before anybody looks at a table. */
export function Verdict({ operations }: { operations: PlatformOperations }) {
  const { t } = useTexts();
  const query = useQuery(oldestUnfinishedQuery);
  const error = useShownError(query);
  // Until they are read nobody knows whether all is well, and afterwards not either where they cannot be read.
  const isWaiting = !query.data && !error;
  const problems = problemsOf(operations, isWaiting ? [] : error ? undefined : query.data);
  return (
    <div className="stack tight">
      {problems.length === 0 && isWaiting ? (
        <div className="skeleton" role="status" aria-label={t('Platform.messages.loading')}>
          {/* As high as what mostly comes. */}
          <div style={{ visibility: 'hidden' }}>
            <Callout tone="good" title={t('Console.operations.well')} />
          </div>
        </div>
      ) : problems.length === 0 ? (
        <Callout tone="good" title={t('Console.operations.well')} />
      ) : (
        <Callout tone="bad" title={t('Console.operations.notWell', { count: problems.length })}>
          <ul className="plain-list">
            {problems.map(({ name, values }) => {
              const text = t(`Console.operations.problem.${name}`, values);
              return <li key={text}>{text}</li>;
            })}
          </ul>
        </Callout>
      )}
      {/* Not a part of what is read aloud when it changes: this changes all the time. */}
      <p className="soft small number">
        {t('Console.operations.recent', recentRequests(operations.minutes))}
      </p>
    </div>
  );
}
