import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { importsQuery, type ImportJob } from '../api/data-exchange';
import { Page } from '../components/page';
import { itemsOf, PagedList } from '../components/paged-list';
import { EmptyState } from '../components/state';
import { LinkButton } from '../components/link-button';
import { RelativeTime } from '../components/relative-time';
import { TableFrame } from '../components/table-frame';
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
    <TableFrame label={t('Platform.areas.imports')} cardsWhenNarrow>
      <thead>
        <tr>
          <th scope="col">{t('DataExchange.fields.originalFileName')}</th>
          <th scope="col">{t('DataExchange.fields.definitionName')}</th>
          <th scope="col">{t('DataExchange.fields.status')}</th>
          <th scope="col" className="end">
            {t('DataExchange.fields.fileSizeBytes')}
          </th>
          <th scope="col">{t('DataExchange.fields.createdAt')}</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id} className="linked">
            <th scope="row">
              <Link to="/imports/$jobId" params={{ jobId: job.id }} className="cover">
                {job.originalFileName}
              </Link>
            </th>
            <td>{definitionName(texts, job.definitionName)}</td>
            <td>
              <ImportStatus {...job} />
            </td>
            <td className="end">{bytes(job.fileSizeBytes)}</td>
            <td>
              <RelativeTime instant={job.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
