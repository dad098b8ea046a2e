import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { definitionQuery, workflowStatusQuery, type Entity, type WorkflowStatus } from '../api/workflow';
import { Failure, Skeleton } from '../components/state';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { Drawing } from '../workflows/drawing';
import { stateName } from './state-name';
import { WorkflowHistory } from './workflow-history';

const TransitionForm = lazyPart(
  () => import('./transition-form'),
  ({ TransitionForm }) => TransitionForm,
);

/** As high as the form mostly is, so that nothing moves when it arrives. */
const loading = <Skeleton lines={1} height="15.25rem" />;

/** The state of an entity, and what may become of it and why not; nothing where it has no workflow. */
export function CurrentState({ entity }: { entity: Entity }) {
  const { t } = useTexts();
  const { data, error, refetch } = useQuery(workflowStatusQuery(entity));
  const status = useDeferredValue(data);
  if (status === null) return null;
  return (
    <section className="stack current-state" aria-label={t('Platform.areas.workflow')}>
      {error && <Failure error={error} onRetry={refetch} />}
      {!status && !error && loading}
      {status && (
        <Later place={loading}>
          <TransitionForm entity={entity} status={status} />
        </Later>
      )}
    </section>
  );
}

/** Where an entity stands among all states, and how it came here. */
export function StatePath({ entity }: { entity: Entity }) {
  const { t } = useTexts();
  const caller = useCaller();
  const { data } = useQuery(workflowStatusQuery(entity));
  const status = useDeferredValue(data);
  if (!status) return null;
  return (
    <aside className="stack state-path" aria-label={t('Workflow.messages.history')}>
      <Picture entity={entity} status={status} />
      {mayDo(caller, 'Workflow.History.Read') && <WorkflowHistory entity={entity} />}
    </aside>
  );
}

/** All states, where the entity is now, and where it can go from here. */
function Picture({ entity, status }: { entity: Entity; status: WorkflowStatus }) {
  const texts = useTexts();
  const { t } = texts;
  const { data } = useQuery(definitionQuery(entity.entityType));
  if (!data) return null;
  const { definition } = data;
  const state = stateName(texts, status.currentState);
  return (
    <Drawing
      label={t('Console.workflows.pictureOf', { name: entity.entityType, state })}
      {...definition}
      emphasisOf={({ kind, index }) => {
        if (kind === 'state') return definition.states[index] === status.currentState ? 'current' : undefined;
        const { from, to } = definition.transitions[index]!;
        if (from !== status.currentState) return undefined;
        const offered = status.availableTransitions.find(({ targetState }) => targetState === to);
        return offered?.allowed ? 'possible' : 'blocked';
      }}
    />
  );
}
