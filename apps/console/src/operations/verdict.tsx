import { useInfiniteQuery } from '@tanstack/react-query';
import { everyUnfinished, jobsQuery, type PlatformOperations } from '../api/operations';
import { itemsOf } from '../components/paged-list';
import { Callout } from '../components/state';
import { useTexts } from '../texts/texts';
import { problemsOf, recentRequests } from './problems';

/** Whether it is us, and what: before anybody looks at a table. */
export function Verdict({ operations }: { operations: PlatformOperations }) {
  const { t } = useTexts();
  // The newest, which the page shows at first anyway.
  const { data: jobs } = useInfiniteQuery(jobsQuery(everyUnfinished));
  const problems = problemsOf(operations, itemsOf(jobs) ?? []);
  return (
    <div className="stack tight">
      {problems.length === 0 ? (
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
