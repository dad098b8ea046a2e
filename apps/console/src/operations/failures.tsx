import type { PlatformOperations } from '../api/operations';
import { RelativeTime } from '../components/relative-time';
import { TableFrame } from '../components/table-frame';
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
        <TableFrame label={t('Console.operations.failures')} cardsWhenNarrow>
          <thead>
            <tr>
              <th scope="col">{t('Console.operations.request')}</th>
              <th scope="col">{t('Console.operations.service')}</th>
              <th scope="col" className="end">
                {t('Platform.fields.status')}
              </th>
              <th scope="col">{t('Console.operations.when')}</th>
              <th scope="col">{t('Console.operations.trace')}</th>
            </tr>
          </thead>
          <tbody>
            {failures.map(({ at, service, route, status, traceId }) => (
              <tr key={`${traceId} ${at}`}>
                <th scope="row">{route.split('.').at(-1)}</th>
                <td>{service}</td>
                <td className="end" data-label={t('Platform.fields.status')}>
                  {status}
                </td>
                <td>
                  <RelativeTime instant={at} />
                </td>
                <td>
                  <TraceLink traceId={traceId} tracesUrl={tracesUrl} />
                </td>
              </tr>
            ))}
          </tbody>
        </TableFrame>
      )}
    </div>
  );
}
