import { permissions } from '@plinth/contracts/permissions';
import { useState } from 'react';
import type { WorkflowTransition } from '../api/workflow';
import { Select } from '../components/select';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';
import { DurationField } from './duration-field';
import { PeoplePicker } from './people-picker';

interface ApprovalFormProps {
  transition: WorkflowTransition;
  onChange: (change: Pick<Partial<WorkflowTransition>, 'approvers' | 'timers'>) => void;
  /** What is wrong with a part of the transition, such as `approvers.count`. */
  messageOf: (path: string) => string | undefined;
}

const NONE = '';
const nobody = { permission: null, users: [] };
const noApprovers = { ...nobody, mode: 'Any', count: null } as const;
const noTimers = {
  remindAfterSeconds: null,
  escalateAfterSeconds: null,
  escalateTo: null,
  expireAfterSeconds: null,
};
const modes = ['Any', 'All', 'Count'] as const;

/** Who approves a transition, how many of them, and what happens when they do not. */
export function ApprovalForm({ transition, onChange, messageOf }: ApprovalFormProps) {
  const { t } = useTexts();
  const approvers = { ...noApprovers, ...transition.approvers };
  const timers = { ...noTimers, ...transition.timers };
  const isUsual = (next: typeof approvers) =>
    next.permission === null && next.users.length === 0 && next.mode === 'Any';
  const changeApprovers = (change: Partial<typeof approvers>) => {
    const next = { ...approvers, ...change };
    onChange({ approvers: isUsual(next) ? null : next });
  };
  const changeTimers = (change: Partial<typeof timers>) => {
    const next = { ...timers, ...change };
    onChange({ timers: Object.values(next).every((value) => value === null) ? null : next });
  };
  return (
    <fieldset className="stack approval-form">
      <legend>{t('Console.workflows.approval')}</legend>
      <Approvers
        name={t('Console.workflows.approvers')}
        none={t('Console.workflows.usualApprovers')}
        value={approvers}
        onChange={changeApprovers}
      />
      <Select
        label={t('Console.workflows.mode')}
        options={modes.map((id) => ({ id, label: t(`Workflow.approvalMode.${id}`) }))}
        value={approvers.mode}
        onChange={(id) => {
          const mode = modes.find((one) => one === id)!;
          changeApprovers({ mode, count: mode === 'Count' ? (approvers.count ?? 2) : null });
        }}
      />
      {approvers.mode === 'Count' && (
        <CountField
          label={t('Console.workflows.count')}
          value={approvers.count}
          onChange={(count) => changeApprovers({ count })}
          errorMessage={messageOf('approvers.count')}
        />
      )}
      <DurationField
        label={t('Console.workflows.remind')}
        seconds={timers.remindAfterSeconds}
        onChange={(remindAfterSeconds) => changeTimers({ remindAfterSeconds })}
        errorMessage={messageOf('timers.remindAfterSeconds')}
      />
      <DurationField
        label={t('Console.workflows.escalate')}
        seconds={timers.escalateAfterSeconds}
        errorMessage={messageOf('timers.escalateAfterSeconds')}
        onChange={(escalateAfterSeconds) =>
          changeTimers({
            escalateAfterSeconds,
            escalateTo: escalateAfterSeconds === null ? null : (timers.escalateTo ?? nobody),
          })
        }
      />
      {timers.escalateAfterSeconds !== null && (
        <Approvers
          name={t('Console.workflows.escalateTo')}
          none={t('Console.workflows.nobody')}
          value={{ ...nobody, ...timers.escalateTo }}
          onChange={(change) => changeTimers({ escalateTo: { ...nobody, ...timers.escalateTo, ...change } })}
        />
      )}
      <DurationField
        label={t('Console.workflows.expire')}
        seconds={timers.expireAfterSeconds}
        onChange={(expireAfterSeconds) => changeTimers({ expireAfterSeconds })}
        errorMessage={messageOf('timers.expireAfterSeconds')}
      />
    </fieldset>
  );
}

interface People {
  permission: string | null;
  users: string[];
}

interface ApproversProps {
  name: string;
  /** What it means that neither a permission nor anybody is named. */
  none: string;
  value: People;
  onChange: (change: Partial<People>) => void;
}

/** Those who hold a permission, and people by their names. */
function Approvers({ name, none, value, onChange }: ApproversProps) {
  const { t } = useTexts();
  return (
    <>
      <Select
        label={name}
        options={[
          { id: NONE, label: value.users.length > 0 ? t('Console.workflows.onlyPeople') : none },
          ...permissions.map((id) => ({ id, label: t(`Permissions.${id}`), description: id })),
        ]}
        value={value.permission ?? NONE}
        onChange={(next) => onChange({ permission: next === NONE ? null : next })}
      />
      <PeoplePicker
        label={t('Console.workflows.people', { name })}
        value={value.users}
        onChange={(users) => onChange({ users })}
      />
    </>
  );
}

interface CountFieldProps {
  label: string;
  value: number | null;
  onChange: (count: number | null) => void;
  errorMessage: string | undefined;
}

function CountField({ label, value, onChange, errorMessage }: CountFieldProps) {
  const { t } = useTexts();
  const [text, setText] = useState(() => String(value ?? ''));
  const write = (next: string) => {
    setText(next);
    onChange(/^[1-9]\d{0,2}$/.test(next.trim()) ? Number(next) : null);
  };
  const isWrong = value === null;
  return (
    <TextField
      label={label}
      inputMode="decimal"
      value={text}
      onChange={write}
      errorMessage={isWrong ? t('Console.forms.Number') : errorMessage}
    />
  );
}
