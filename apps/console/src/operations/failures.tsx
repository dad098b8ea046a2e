import type { PlatformOperations } from '../api/operations';
import { RelativeTime } from '../components/relative-time';
import { ColumnTable } from '../components/column-table';
import { useTexts } from '../texts/texts';
import { TraceLink } from './trace-link';

/** The last requests that the platform failed, each with its trace. */
export function Failures({ operations: { failures, tracesUrl } }: { operations: PlatformOperations }) {
  const { t } = useTexts();
  return (
    <div className="stack tight">
      <h2>{t('Console.operations.failures')}</h2>
      {failures.length === 0 ? (
        <p className="soft">{t('Console.operations.noFailures')}</p>
      ) : (
        <ColumnTable
          label={t('Console.operations.failures')}
          items={failures}
          keyOf={({ traceId, at }) => `${traceId} ${at}`}
          columns={[
            { name: t('Console.operations.request'), cell: ({ route }) => route.split('.').at(-1) },
            { name: t('Console.operations.service'), cell: ({ service }) => service },
            { name: t('Platform.fields.status'), cell: ({ status }) => status, isNumber: true },
            { name: t('Console.operations.when'), cell: ({ at }) => <RelativeTime instant={at} /> },
            {
              name: t('Console.operations.trace'),
              cell: ({ traceId }) => <TraceLink traceId={traceId} tracesUrl={tracesUrl} />,
            },
          ]}
        />
      )}
    </div>
  );
}
