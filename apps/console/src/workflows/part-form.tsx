import { permissions } from '@plinth/contracts/permissions';
import { Trash2 } from 'lucide-react';
import { Suspense, useState } from 'react';
import { Button } from '../components/button';
import { Checkbox } from '../components/choices';
import { Select } from '../components/select';
import { Skeleton } from '../components/state';
import { TextField } from '../components/text-field';
import { lazyPart } from '../components/lazy-part';
import { stateName, transitionName } from '../entities/state-name';
import { useTexts } from '../texts/texts';
import {
  changeTransition,
  connect,
  removeState,
  removeTransition,
  renameState,
  type DefinitionDraft,
} from './definition-draft';
import type { GraphSelection } from './state-graph';

const RenameForm = lazyPart(
  () => import('./rename-form'),
  ({ RenameForm }) => RenameForm,
);
const ApprovalForm = lazyPart(
  () => import('./approval-form'),
  ({ ApprovalForm }) => ApprovalForm,
);

interface PartFormProps {
  draft: DefinitionDraft;
  selection: GraphSelection | undefined;
  onSelect: (selection: GraphSelection | undefined) => void;
  onChange: (draft: DefinitionDraft) => void;
  isReadOnly: boolean;
  /** What is wrong, by path such as `transitions[2].name`. */
  messages: Readonly<Record<string, string>>;
}

/** What was chosen in the picture, to be changed; all of it works by keyboard. */
export function PartForm(props: PartFormProps) {
  const { t } = useTexts();
  const { draft, selection } = props;
  const state = selection?.kind === 'state' ? draft.states[selection.index] : undefined;
  if (state !== undefined) return <StateForm {...props} state={state} />;
  if (selection?.kind === 'transition' && draft.transitions[selection.index])
    return <TransitionForm {...props} index={selection.index} />;
  return (
    <section className="panel padded stack">
      <h2>{t('Console.workflows.choose')}</h2>
      <p className="soft">{t(`Console.workflows.${props.isReadOnly ? 'readOnly' : 'chooseHelp'}`)}</p>
    </section>
  );
}

function StateForm({ draft, state, onChange, onSelect, isReadOnly }: PartFormProps & { state: string }) {
  const texts = useTexts();
  const { t } = texts;
  const [target, setTarget] = useState<string | null>(null);
  const unconnected = draft.states.filter(
    (to) => !draft.transitions.some((one) => one.from === state && one.to === to),
  );
  return (
    <section className="panel padded stack" aria-labelledby="part">
      <h2 id="part">
        {t('Console.workflows.state')} {stateName(texts, state)}
      </h2>
      {!isReadOnly && (
        <>
          <Suspense fallback={<Skeleton lines={1} height="3.4rem" />}>
            <RenameForm
              state={state}
              taken={draft.states}
              onRename={(name) => onChange(renameState(draft, state, name))}
            />
          </Suspense>
          <Checkbox
            isSelected={draft.initialState === state}
            onChange={(isInitial) => isInitial && onChange({ ...draft, initialState: state })}
          >
            {t('Console.workflows.isInitial')}
          </Checkbox>
          <Checkbox
            isSelected={draft.finalStates.includes(state)}
            onChange={(isFinal) =>
              onChange({
                ...draft,
                finalStates: isFinal
                  ? [...draft.finalStates, state]
                  : draft.finalStates.filter((one) => one !== state),
              })
            }
          >
            {t('Console.workflows.isFinal')}
          </Checkbox>
          <Select
            label={t('Console.workflows.leadsTo')}
            placeholder={t('Console.workflows.chooseState')}
            options={unconnected.map((id) => ({ id, label: stateName(texts, id) }))}
            value={target}
            onChange={setTarget}
          />
          <div className="row">
            <Button
              isDisabled={target === null}
              onPress={() => {
                onChange(connect(draft, state, target!, t('Console.workflows.newTransition')));
                onSelect({ kind: 'transition', index: draft.transitions.length });
              }}
            >
              {t('Console.workflows.addTransition')}
            </Button>
            <Button
              look="danger"
              isDisabled={draft.states.length === 1}
              onPress={() => {
                onSelect(undefined);
                onChange(removeState(draft, state));
              }}
            >
              <Trash2 aria-hidden />
              {t('Console.workflows.removeState')}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

const NONE = '';

function TransitionForm({
  draft,
  index,
  onChange,
  onSelect,
  isReadOnly,
  messages,
}: PartFormProps & { index: number }) {
  const texts = useTexts();
  const { t } = texts;
  const transition = draft.transitions[index]!;
  const { name, from, to, permission, requiresApproval } = transition;
  const states = draft.states.map((id) => ({ id, label: stateName(texts, id) }));
  const change = (next: Partial<typeof transition>) => onChange(changeTransition(draft, index, next));
  return (
    <section className="panel padded stack" aria-labelledby="part">
      <h2 id="part">
        {t('Workflow.fields.name')} {transitionName(texts, name)}
      </h2>
      {isReadOnly ? (
        <p className="soft">
          {stateName(texts, from)} → {stateName(texts, to)}
        </p>
      ) : (
        <>
          <TextField
            label={t('Console.workflows.nameOfTransition')}
            value={name}
            onChange={(next) => change({ name: next })}
            errorMessage={messages[`transitions[${index}].name`]}
          />
          <Select
            label={t('Console.workflows.from')}
            options={states}
            value={from}
            onChange={(next) => change({ from: next })}
          />
          <Select
            label={t('Console.workflows.to')}
            options={states}
            value={to}
            onChange={(next) => change({ to: next })}
          />
          <Select
            label={t('Console.workflows.permission')}
            options={[
              { id: NONE, label: t('Console.workflows.noPermission') },
              ...permissions.map((id) => ({ id, label: t(`Permissions.${id}`), description: id })),
            ]}
            value={permission ?? NONE}
            onChange={(next) => change({ permission: next === NONE ? null : next })}
          />
          <Checkbox
            isSelected={requiresApproval}
            onChange={(isNeeded) =>
              change({
                requiresApproval: isNeeded,
                ...(isNeeded ? {} : { approvers: null, timers: null }),
              })
            }
          >
            {t('Workflow.fields.requiresApproval')}
          </Checkbox>
          {requiresApproval && (
            <Suspense fallback={<Skeleton lines={6} height="3.6rem" />}>
              <ApprovalForm
                transition={transition}
                onChange={change}
                messageOf={(path) => messages[`transitions[${index}].${path}`]}
              />
            </Suspense>
          )}
          <div>
            <Button
              look="danger"
              onPress={() => {
                onSelect(undefined);
                onChange(removeTransition(draft, index));
              }}
            >
              <Trash2 aria-hidden />
              {t('Console.workflows.removeTransition')}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}
