import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileDown } from 'lucide-react';
import { exportsQuery, type ExportJob } from '../api/data-exchange';
import { ColumnTable } from '../components/column-table';
import { LinkButton } from '../components/link-button';
import { Page } from '../components/page';
import { itemsOf, PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { EmptyState } from '../components/state';
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
    <ColumnTable
      label={t('Platform.areas.exports')}
      items={jobs}
      keyOf={({ id }) => id}
      isLinked
      columns={[
        {
          name: t('DataExchange.fields.definitionName'),
          cell: (job) => (
            <Link to="/exports/$jobId" params={{ jobId: job.id }} className="cover">
              {definitionName(texts, job.definitionName)}
            </Link>
          ),
        },
        { name: t('DataExchange.fields.format'), cell: ({ format }) => t(`DataExchange.format.${format}`) },
        { name: t('DataExchange.fields.status'), cell: ({ status }) => <ExportStatus status={status} /> },
        {
          name: t('DataExchange.fields.rowCount'),
          cell: ({ rowCount }) => (rowCount === null ? null : number(rowCount)),
          isNumber: true,
        },
        {
          name: t('DataExchange.fields.createdAt'),
          cell: ({ createdAt }) => <RelativeTime instant={createdAt} />,
        },
      ]}
    />
  );
}
