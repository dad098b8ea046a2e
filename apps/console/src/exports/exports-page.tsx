import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileDown } from 'lucide-react';
import { exportsQuery, type ExportJob } from '../api/data-exchange';
import { LinkButton } from '../components/link-button';
import { Page } from '../components/page';
import { itemsOf, PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { EmptyState } from '../components/state';
import { TableFrame } from '../components/table-frame';
import { definitionName } from '../imports/definition-name';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { ExportStatus } from './export-status';

const REFRESH_MILLISECONDS = 2_000;
const isRunning = ({ status }: ExportJob) => status === 'Queued' || status === 'Exporting';

/** The exports of the tenant, newest first. */
export function ExportsPage() {
  const { t } = useTexts();
  const mayExport = mayDo(useCaller(), 'DataExchange.Exports.Execute');
  const query = useInfiniteQuery({
    ...exportsQuery,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some(isRunning)) ? REFRESH_MILLISECONDS : false,
  });
  const begin = mayExport && (
    <LinkButton to="/exports/new" look="primary">
      <FileDown aria-hidden />
      {t('Console.exports.new')}
    </LinkButton>
  );
  return (
    <Page
      title={t('Platform.areas.exports')}
      lead={t('Console.exports.lead')}
      actions={itemsOf(query.data)?.length !== 0 && begin}
    >
      <PagedList
        query={query}
        skeleton={{ lines: 6, height: '2.4rem' }}
        empty={
          <EmptyState icon={FileDown} title={t('Console.exports.none')} action={begin}>
            {t('Console.exports.noneHelp')}
          </EmptyState>
        }
      >
        {(jobs) => <ExportTable jobs={jobs} />}
      </PagedList>
    </Page>
  );
}

function ExportTable({ jobs }: { jobs: readonly ExportJob[] }) {
  const texts = useTexts();
  const { t, number } = texts;
  return (
    <TableFrame label={t('Platform.areas.exports')} cardsWhenNarrow>
      <thead>
        <tr>
          <th scope="col">{t('DataExchange.fields.definitionName')}</th>
          <th scope="col">{t('DataExchange.fields.format')}</th>
          <th scope="col">{t('DataExchange.fields.status')}</th>
          <th scope="col" className="end">
            {t('DataExchange.fields.rowCount')}
          </th>
          <th scope="col">{t('DataExchange.fields.createdAt')}</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id} className="linked">
            <th scope="row">
              <Link to="/exports/$jobId" params={{ jobId: job.id }} className="cover">
                {definitionName(texts, job.definitionName)}
              </Link>
            </th>
            <td>{t(`DataExchange.format.${job.format}`)}</td>
            <td>
              <ExportStatus status={job.status} />
            </td>
            <td
              className={job.rowCount === null ? 'end nothing' : 'end'}
              data-label={t('DataExchange.fields.rowCount')}
            >
              {job.rowCount === null ? '–' : number(job.rowCount)}
            </td>
            <td>
              <RelativeTime instant={job.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
