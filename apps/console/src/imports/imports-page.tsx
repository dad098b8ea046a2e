import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { importsQuery, type ImportJob } from '../api/data-exchange';
import { ColumnTable } from '../components/column-table';
import { Page } from '../components/page';
import { itemsOf, PagedList } from '../components/paged-list';
import { EmptyState } from '../components/state';
import { LinkButton } from '../components/link-button';
import { RelativeTime } from '../components/relative-time';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { definitionName } from './definition-name';
import { ImportStatus } from './import-status';

/** The imports of the tenant, newest first. */
export function ImportsPage() {
  const { t } = useTexts();
  const query = useInfiniteQuery(importsQuery);
  const mayImport = mayDo(useCaller(), 'DataExchange.Imports.Execute');
  const begin = mayImport && (
    <LinkButton to="/imports/new" look="primary">
      <FileUp aria-hidden />
      {t('Console.imports.new')}
    </LinkButton>
  );
  return (
    <Page
      title={t('Platform.areas.imports')}
      lead={t('Console.imports.lead')}
      actions={itemsOf(query.data)?.length !== 0 && begin}
    >
      <PagedList
        query={query}
        skeleton={{ lines: 6, height: '2.4rem' }}
        empty={
          <EmptyState icon={FileUp} title={t('Console.imports.none')} action={begin}>
            {t('Console.imports.noneHelp')}
          </EmptyState>
        }
      >
        {(jobs) => <ImportTable jobs={jobs} />}
      </PagedList>
    </Page>
  );
}

function ImportTable({ jobs }: { jobs: readonly ImportJob[] }) {
  const texts = useTexts();
  const { t, bytes } = texts;
  return (
    <ColumnTable
      label={t('Platform.areas.imports')}
      items={jobs}
      keyOf={({ id }) => id}
      isLinked
      columns={[
        {
          name: t('DataExchange.fields.originalFileName'),
          cell: (job) => (
            <Link to="/imports/$jobId" params={{ jobId: job.id }} className="cover">
              {job.originalFileName}
            </Link>
          ),
        },
        {
          name: t('DataExchange.fields.definitionName'),
          cell: (job) => definitionName(texts, job.definitionName),
        },
        { name: t('DataExchange.fields.status'), cell: (job) => <ImportStatus {...job} /> },
        {
          name: t('DataExchange.fields.fileSizeBytes'),
          cell: ({ fileSizeBytes }) => bytes(fileSizeBytes),
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
