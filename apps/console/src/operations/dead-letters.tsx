import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useFilter } from 'react-aria-components/Autocomplete';
import {
  deadLettersQuery,
  operations as client,
  operationsQuery,
  type DeadLetter,
  type PlatformOperations,
} from '../api/operations';
import { Button } from '../components/button';
import { RelativeTime } from '../components/relative-time';
import { Announced, Callout, Failure } from '../components/state';
import { TextField } from '../components/text-field';
import { TableFrame } from '../components/table-frame';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { tenantName } from './tenant-name';
import { TraceLink } from './trace-link';

interface DeadLettersProps {
  operations: PlatformOperations;
}

/** What services could not process, of all tenants; each can be processed again once its cause is gone. */
export function DeadLetters({ operations }: DeadLettersProps) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const count = operations.services.reduce((sum, { queues }) => sum + (queues?.deadLetters ?? 0), 0);
  // Whatever it could not process, it does not say now.
  const silent = operations.services.flatMap(({ name, responds }) => (responds ? [] : [name]));
  const { data, error, refetch } = useQuery({
    // The figures of the services say when there is something to read.
    ...deadLettersQuery(count),
    enabled: count > 0,
    placeholderData: (previous) => previous,
  });
  const replay = useMutation({
    mutationFn: async (body: { service: string; eventId?: string }) =>
      (await client.replayDeadLetters({ body })).body,
    onSettled: () => queries.invalidateQueries({ queryKey: operationsQuery.queryKey }),
  });
  const isReplaying = ({ service, eventId }: { service: string; eventId?: string }) =>
    replay.isPending && replay.variables.service === service && replay.variables.eventId === eventId;
  const [search, setSearch] = useState('');
  const { contains } = useFilter({ sensitivity: 'base' });
  const items = count > 0 ? (data?.items ?? []) : [];
  const found = items.filter(({ name, service, tenantId, traceId, error: reason }) =>
    [name, service, tenantName(operations.tenants, tenantId), traceId ?? '', reason].some((text) =>
      contains(text, search.trim()),
    ),
  );
  const services = [...new Set(items.map(({ service }) => service))];
  const mayReplay = mayDo(useCaller(), 'Platform.Operations.Manage');
  return (
    <div className="stack tight">
      <div className="row spread">
        <h2>{t('Console.operations.dead')}</h2>
        <span className="row">
          {items.length > 0 && (
            <div className="letter-search">
              <TextField
                hidesLabel
                label={t('Console.operations.searchDead')}
                placeholder={t('Console.operations.searchDead')}
                value={search}
                onChange={setSearch}
              />
            </div>
          )}
          {mayReplay &&
            services.map((service) => (
              <Button
                key={service}
                isPending={isReplaying({ service })}
                isDisabled={replay.isPending && !isReplaying({ service })}
                onPress={() => replay.mutate({ service })}
              >
                <RotateCw aria-hidden />
                {t('Console.operations.replayAll', { service })}
              </Button>
            ))}
        </span>
      </div>
      {count === 0 && silent.length === 0 && <p className="soft">{t('Console.operations.noDead')}</p>}
      {silent.length > 0 && (
        <p className="soft">
          {t('Console.operations.unknownDead', { count: silent.length, names: silent.join(', ') })}
        </p>
      )}
      {error && <Failure error={error} onRetry={refetch} />}
      {replay.error && <Failure error={replay.error} />}
      <Announced>
        {replay.data && (
          <Callout
            tone={replay.data.failed > 0 ? 'warn' : 'good'}
            title={t('Console.operations.replayed', replay.data)}
          />
        )}
      </Announced>
      {items.length > 0 && found.length === 0 && <p className="soft">{t('Platform.lists.noMatches')}</p>}
      {found.length > 0 && (
        <TableFrame label={t('Console.operations.dead')} cardsWhenNarrow>
          <thead>
            <tr>
              <th scope="col">{t('Console.operations.event')}</th>
              <th scope="col">{t('Console.operations.service')}</th>
              <th scope="col">{t('Platform.fields.tenant')}</th>
              <th scope="col" className="end">
                {t('Console.operations.attempts')}
              </th>
              <th scope="col">{t('Console.operations.when')}</th>
              <th scope="col">{t('Console.operations.trace')}</th>
              {mayReplay && (
                <th scope="col">
                  <span className="visually-hidden">{t('Console.operations.replay')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {found.map((letter) => (
              <Row
                key={`${letter.service} ${letter.eventId}`}
                letter={letter}
                operations={operations}
                isPending={isReplaying(letter)}
                isDisabled={replay.isPending && !isReplaying(letter)}
                {...(mayReplay && {
                  onReplay: () => replay.mutate({ service: letter.service, eventId: letter.eventId }),
                })}
              />
            ))}
          </tbody>
        </TableFrame>
      )}
    </div>
  );
}

const REASON_LENGTH_MAX = 200;

interface RowProps extends DeadLettersProps {
  letter: DeadLetter;
  isPending: boolean;
  isDisabled: boolean;
  onReplay?: () => void;
}

function Row({ letter, operations: { tenants, tracesUrl }, isPending, isDisabled, onReplay }: RowProps) {
  const { t, number } = useTexts();
  const { name, service, tenantId, deliveries, diedAt, traceId, error } = letter;
  const [reason = '', ...stack] = error.split(/\n(?=\s+at )/);
  return (
    <tr>
      <th scope="row">
        {name}
        <details className="small reason">
          <summary>{reason.replaceAll(/\s+/g, ' ').slice(0, REASON_LENGTH_MAX)}</summary>
          <pre tabIndex={0}>{stack.join('\n')}</pre>
        </details>
      </th>
      <td>{service}</td>
      <td>{tenantName(tenants, tenantId)}</td>
      <td className="end" data-label={t('Console.operations.attempts')}>
        {number(deliveries)}
      </td>
      <td>
        <RelativeTime instant={diedAt} />
      </td>
      <td>
        <TraceLink traceId={traceId} tracesUrl={tracesUrl} />
      </td>
      {onReplay && (
        <td className="end">
          <Button isPending={isPending} isDisabled={isDisabled} onPress={onReplay}>
            <RotateCw aria-hidden />
            {t('Console.operations.replay')}
          </Button>
        </td>
      )}
    </tr>
  );
}
