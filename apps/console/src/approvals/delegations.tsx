import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useState } from 'react';
import type { Suggestion } from '../api/timeline';
import { delegationsQuery, workflow, type Delegation } from '../api/workflow';
import { Button } from '../components/button';
import { Confirm } from '../components/confirm';
import { usePersonNames } from '../components/person-names';
import { Failure, Skeleton } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { mayDo, useCaller } from '../shell/caller';
import { beginOfDay, dayAfter, dayOf } from '../texts/day';
import { usePreferences } from '../texts/preferences';
import { useTexts } from '../texts/texts';
import { PersonSelect } from './person-select';

/** Who decides in the place of this person for a while, and in whose place this person does. */
export function Delegations() {
  const { t } = useTexts();
  const caller = useCaller();
  const { data, error, refetch } = useQuery(delegationsQuery);
  const [isGiving, setGiving] = useState(false);
  // For those who do not see the list change.
  const [said, setSaid] = useState('');
  const mayGive = mayDo(caller, 'Workflow.Transitions.Execute');
  const given = data?.filter(({ delegatorId }) => delegatorId === caller.userId) ?? [];
  const received = data?.filter(({ delegatorId }) => delegatorId !== caller.userId) ?? [];
  const nameOf = usePersonNames(given.map(({ delegateId }) => delegateId));
  return (
    <section className="panel padded stack" aria-labelledby="delegations">
      <div className="stack tight">
        <h2 id="delegations">{t('Console.approvals.delegation.title')}</h2>
        <p className="soft">{t('Console.approvals.delegation.help')}</p>
      </div>
      <p role="status" className="visually-hidden">
        {said}
      </p>
      {error && !data && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Skeleton lines={1} height="2.4rem" />}
      {given.length > 0 && (
        <ul className="delegations" aria-label={t('Console.approvals.delegation.given')}>
          {given.map((delegation) => (
            <Given
              key={delegation.id}
              delegation={delegation}
              name={nameOf(delegation.delegateId)}
              onTakenBack={setSaid}
            />
          ))}
        </ul>
      )}
      {received.length > 0 && (
        <ul className="delegations" aria-label={t('Console.approvals.delegation.received')}>
          {received.map((delegation) => (
            <li key={delegation.id} className="row">
              <span>{t('Console.approvals.onBehalf', { name: delegation.delegatorName })}</span>
              <Period {...delegation} />
            </li>
          ))}
        </ul>
      )}
      {data && mayGive && (
        <div>
          <Button aria-expanded={isGiving} onPress={() => setGiving(!isGiving)}>
            {t('Console.approvals.delegation.give')}
            {isGiving ? <ChevronUp aria-hidden /> : <ChevronDown aria-hidden />}
          </Button>
        </div>
      )}
      {data && mayGive && isGiving && (
        <GiveForm
          onGiven={(name) => {
            setGiving(false);
            setSaid(t('Console.approvals.delegation.decidesForYou', { name }));
          }}
        />
      )}
    </section>
  );
}

/** From its first to its last day. */
function Period({ from, until, createdAt }: Pick<Delegation, 'from' | 'until' | 'createdAt'>) {
  const { t, date } = useTexts();
  const last = new Date(Date.parse(until) - 1);
  const days = { from: date(from), until: date(last) };
  const beganAtOnce = Date.parse(from) <= Date.parse(createdAt);
  return (
    <span className="soft small">
      {t(beganAtOnce ? 'Console.approvals.delegation.until' : 'Console.approvals.delegation.period', days)}
    </span>
  );
}

interface GivenProps {
  delegation: Delegation;
  name: string;
  /** @param message says it */
  onTakenBack: (message: string) => void;
}

function Given({ delegation, name, onTakenBack }: GivenProps) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => workflow.deleteDelegation({ params: { delegationId: delegation.id } }),
    onSuccess: () => onTakenBack(t('Console.approvals.delegation.takenBack', { name })),
    onSettled: () => queries.invalidateQueries({ queryKey: delegationsQuery.queryKey }),
  });
  return (
    <li className="row spread">
      <span className="row">
        <span>{t('Console.approvals.delegation.decidesForYou', { name })}</span>
        <Period {...delegation} />
      </span>
      <Confirm
        look="quiet"
        label={t('Console.approvals.delegation.takeBack')}
        title={t('Console.approvals.delegation.takeBackTitle', { name })}
        confirmLabel={t('Console.approvals.delegation.takeBack')}
        isPending={isPending}
        error={error}
        onConfirm={() => mutate()}
      >
        {t('Console.approvals.delegation.takeBackHelp')}
      </Confirm>
    </li>
  );
}

function GiveForm({ onGiven }: { onGiven: (name: string) => void }) {
  const { t } = useTexts();
  const { userId } = useCaller();
  const { timeZone } = usePreferences();
  const queries = useQueryClient();
  const [delegate, setDelegate] = useState<Suggestion>();
  const today = dayOf(new Date(), timeZone);
  const form = useContractForm({
    shape: 'delegation',
    defaultValues: { from: today, until: '' },
    words: {
      'from.Format': 'Console.forms.NotEmpty',
      'from.Range': 'Console.approvals.delegation.range',
      'until.Format': 'Console.forms.NotEmpty',
      'until.Range': 'Console.approvals.delegation.range',
    },
    send: async ({ from, until }) => {
      const body = {
        delegateId: delegate!.id,
        // Today it begins at once, not at the midnight that is over.
        ...(from > today ? { from: beginOfDay(from, timeZone).toISOString() } : {}),
        until: beginOfDay(dayAfter(until), timeZone).toISOString(),
      };
      await workflow.postDelegation({ body });
      await queries.invalidateQueries({ queryKey: delegationsQuery.queryKey });
    },
    onSent: () => onGiven(delegate!.displayName || delegate!.id),
  });
  return (
    <Form form={form} className="stack">
      <PersonSelect
        label={t('Console.approvals.delegation.who')}
        value={delegate}
        leftOut={userId}
        onChange={setDelegate}
      />
      <div className="row delegation-days">
        <FormField form={form} name="from" type="date" label={t('Console.approvals.delegation.from')} />
        <FormField form={form} name="until" type="date" label={t('Console.approvals.delegation.lastDay')} />
      </div>
      {form.failure && <Failure error={form.failure} />}
      <div>
        <Button type="submit" look="primary" isDisabled={!delegate} isPending={form.isPending}>
          {t('Console.approvals.delegation.confirm')}
        </Button>
      </div>
    </Form>
  );
}
