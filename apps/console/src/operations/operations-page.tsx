import { useQuery } from '@tanstack/react-query';
import { ServerCog } from 'lucide-react';
import { useDeferredValue } from 'react';
import { operationsQuery, type PlatformOperations } from '../api/operations';
import { ColumnTable, type Column } from '../components/column-table';
import { Page } from '../components/page';
import { useShownError } from '../components/shown-error';
import { Badge, EmptyState, Failure, Skeleton } from '../components/state';
import { isOfHost, mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { DeadLetters } from './dead-letters';
import { Failures } from './failures';
import { Jobs } from './jobs';
import { MinuteChart } from './minute-chart';
import { Verdict } from './verdict';

type Service = PlatformOperations['services'][number];

/** How the platform is, in one look: whether it is us, and where. */
export function OperationsPage() {
  const { t } = useTexts();
  const caller = useCaller();
  const isAllowed = mayDo(caller, 'Platform.Operations.Read') && isOfHost(caller);
  const query = useQuery({ ...operationsQuery, enabled: isAllowed });
  const error = useShownError(query);
  const data = useDeferredValue(query.data);
  return (
    <Page isWide title={t('Console.operations.title')} lead={t('Console.operations.lead')}>
      {!isAllowed && (
        <div className="panel">
          <EmptyState icon={ServerCog} title={t('Platform.messages.unauthorized')} />
        </div>
      )}
      {error && <Failure error={error} onRetry={query.refetch} />}
      {isAllowed && !data && !error && <Skeleton lines={8} height="2.4rem" />}
      {data && (
        <>
          <Verdict operations={data} />
          <Services services={data.services} />
          <Jobs operations={data} />
          <DeadLetters operations={data} />
          <Failures operations={data} />
          <Charts operations={data} />
          <div className="two-columns">
            <Figures name="limits" counts={data.limits} />
            <Figures name="idempotency" counts={data.idempotency} />
          </div>
        </>
      )}
    </Page>
  );
}

function Services({ services }: { services: readonly Service[] }) {
  const { t, number, duration } = useTexts();
  const figure = (name: string, cell: Column<Service>['cell']): Column<Service> => ({
    name: t(`Console.operations.${name}`),
    cell,
    isNumber: true,
  });
  return (
    <ColumnTable
      label={t('Console.operations.services')}
      items={services}
      keyOf={({ name }) => name}
      columns={[
        { name: t('Console.operations.service'), cell: ({ name }) => name },
        {
          name: t('Platform.fields.status'),
          cell: (service) => (
            <Badge tone={service.ready ? 'good' : 'bad'}>
              {t(`Console.operations.state.${stateOf(service)}`)}
            </Badge>
          ),
        },
        figure('waiting', ({ queues }) => (queues ? number(queues.unpublished) : '–')),
        figure('oldest', ({ queues }) =>
          queues && queues.unpublished > 0 ? duration(queues.oldestSeconds) : '–',
        ),
        figure('dead', ({ queues }) => <DeadLetterCount queues={queues} />),
        figure('running', ({ running }) => number(running)),
        figure('requests', ({ requests }) => number(requests)),
        figure('failed', ({ failed }) => number(failed)),
      ]}
    />
  );
}

function DeadLetterCount({ queues }: Pick<Service, 'queues'>) {
  const { number } = useTexts();
  if (queues === null) return '–';
  if (queues.deadLetters === 0) return number(0);
  return <Badge tone="bad">{number(queues.deadLetters)}</Badge>;
}

const stateOf = ({ responds, ready }: Service) => (!responds ? 'silent' : ready ? 'ready' : 'notReady');

function Charts({ operations: { minutes, startedAt } }: { operations: PlatformOperations }) {
  const { t, relative } = useTexts();
  return (
    <section className="stack" aria-labelledby="charts">
      <div className="row spread">
        <h2 id="charts">{t('Console.operations.lastHours')}</h2>
        <span className="soft small">{t('Console.operations.since', { time: relative(startedAt) })}</span>
      </div>
      <div className="two-columns">
        <MinuteChart
          name={t('Console.operations.perMinute')}
          minutes={minutes.map(({ at, requests, failed }) => ({ at, value: requests, bad: failed }))}
          badName={t('Console.operations.failed')}
        />
        <MinuteChart
          name={t('Console.operations.mean')}
          minutes={minutes.map(({ at, meanMilliseconds }) => ({ at, value: meanMilliseconds, bad: 0 }))}
        />
      </div>
    </section>
  );
}

function Figures({ name, counts }: { name: 'limits' | 'idempotency'; counts: Record<string, number> }) {
  const { t, find, number } = useTexts();
  const entries = Object.entries(counts);
  const label = (key: string) => find(`Console.operations.${name}Of.${key}`) ?? key;
  return (
    <section className="panel padded stack tight" aria-labelledby={name}>
      <h2 id={name}>{t(`Console.operations.${name}`)}</h2>
      {entries.length === 0 && <p className="soft">{t('Platform.lists.empty')}</p>}
      <dl className="traffic">
        {entries.map(([key, count]) => (
          <div key={key}>
            <dt className="soft">{label(key)}</dt>
            <dd className="number">{number(count)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
