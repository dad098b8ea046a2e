import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  everyUnfinished,
  jobsQuery,
  jobViews,
  type ExchangeJob,
  type JobSelection,
  type JobView,
  type PlatformOperations,
} from '../api/operations';
import { ColumnTable } from '../components/column-table';
import { itemsOf, PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { Select } from '../components/select';
import { Badge, type BadgeTone } from '../components/state';
import { definitionName } from '../imports/definition-name';
import { useTexts } from '../texts/texts';
import { isStuck, isUnfinished, platformTime } from './problems';
import { tenantName } from './tenant-name';

const ALL = '';
/** The kinds of jobs, each with the texts of its states. */
const statusTexts = {
  Import: 'DataExchange.importStatus',
  Export: 'DataExchange.exportStatus',
  Undo: 'DataExchange.undoStatus',
} as const satisfies Record<ExchangeJob['kind'], string>;
const kinds = Object.keys(statusTexts) as ExchangeJob['kind'][];

/** The imports, exports and undos of all tenants, or of one. */
export function Jobs({ operations: { tenants, minutes } }: { operations: PlatformOperations }) {
  const { t } = useTexts();
  const [selection, setSelection] = useState<JobSelection>(everyUnfinished);
  const { view, kind, tenantId } = selection;
  const query = useInfiniteQuery({ ...jobsQuery(selection), placeholderData: keepPreviousData });
  // Tenants that only the identity provider knows are known here by their jobs.
  const others = new Set([...(itemsOf(query.data) ?? []).map((job) => job.tenantId), tenantId ?? ALL]);
  const isNarrowed = kind !== undefined || tenantId !== undefined;
  return (
    <div className="stack">
      <div className="row spread">
        <h2>{t('Console.operations.jobs')}</h2>
        <div className="job-selection">
          <Select
            hidesLabel
            label={t('Console.operations.jobsShown')}
            options={Object.keys(jobViews).map((id) => ({
              id,
              label: t(`Console.operations.jobView.${id}`),
            }))}
            value={view}
            onChange={(id) => setSelection({ ...selection, view: id as JobView })}
          />
          <Select
            hidesLabel
            label={t('Console.operations.kindShown')}
            options={[
              { id: ALL, label: t('Console.operations.allKinds') },
              ...kinds.map((id) => ({ id, label: t(`Console.operations.jobKind.${id}`) })),
            ]}
            value={kind ?? ALL}
            onChange={(id) => setSelection({ ...selection, kind: kinds.find((one) => one === id) })}
          />
          <Select
            hidesLabel
            label={t('Console.operations.tenantShown')}
            options={[
              { id: ALL, label: t('Console.operations.allTenants') },
              ...tenants.map(({ id, name }) => ({ id, label: name })),
              ...[...others]
                .filter((id) => id !== ALL && !tenants.some((tenant) => tenant.id === id))
                .map((id) => ({ id, label: tenantName(tenants, id) })),
            ]}
            value={tenantId ?? ALL}
            onChange={(id) => setSelection({ ...selection, tenantId: id === ALL ? undefined : id })}
          />
        </div>
      </div>
      <PagedList
        query={query}
        skeleton={{ lines: 1, height: '3.15rem' }}
        empty={
          <p className="soft table-empty">
            {t(isNarrowed ? 'Platform.lists.noMatches' : `Console.operations.noJobs.${view}`)}
          </p>
        }
      >
        {(jobs) => <JobTable jobs={jobs} tenants={tenants} now={platformTime(minutes)} />}
      </PagedList>
    </div>
  );
}

const tones: Record<string, BadgeTone> = {
  Completed: 'good',
  Undone: 'good',
  Failed: 'bad',
  PartiallyCompleted: 'warn',
  PartiallyUndone: 'warn',
};

interface JobTableProps {
  jobs: readonly ExchangeJob[];
  tenants: PlatformOperations['tenants'];
  /** In milliseconds since 1970. */
  now: number;
}

function JobTable({ jobs, tenants, now }: JobTableProps) {
  const texts = useTexts();
  const { t, number } = texts;
  return (
    <ColumnTable
      label={t('Console.operations.jobs')}
      items={jobs}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      columns={[
        {
          name: t('Console.operations.job'),
          cell: ({ kind, definitionName: name, errorMessage }) => (
            <>
              {t(`Console.operations.jobKind.${kind}`)} · {definitionName(texts, name)}
              {errorMessage && <span className="soft small reason">{errorMessage}</span>}
            </>
          ),
        },
        { name: t('Platform.fields.tenant'), cell: ({ tenantId }) => tenantName(tenants, tenantId) },
        {
          name: t('Platform.fields.status'),
          cell: (job) => (
            <span className="row">
              <Badge tone={isUnfinished(job) ? 'accent' : tones[job.status]}>
                {t(`${statusTexts[job.kind]}.${job.status}`)}
              </Badge>
              {isStuck(job, now) && <Badge tone="bad">{t('Console.operations.stuck')}</Badge>}
            </span>
          ),
        },
        {
          name: t('DataExchange.fields.rowCount'),
          cell: ({ rowsDone }) => number(rowsDone),
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
