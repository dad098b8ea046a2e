import { useMutation, useQueryClient } from '@tanstack/react-query';
import { History, Lock, LockOpen, Undo2 } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { Permission } from '@plinth/contracts/permissions';
import {
  isSetAt,
  settings,
  useSettingChange,
  type Level,
  type Setting,
  type SettingDefinition,
} from '../api/settings';
import { Button } from '../components/button';
import { Badge, Failure } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { SettingEditor } from './setting-editor';
import { settingDescription, settingName, valueText } from './setting-text';

const SettingHistory = lazyPart(
  () => import('./setting-history'),
  ({ SettingHistory }) => SettingHistory,
);

const permissionToManage: Record<Level, Permission | undefined> = {
  user: undefined,
  tenant: 'Settings.Tenant.Manage',
  global: 'Settings.Global.Manage',
};

interface SettingPanelProps {
  level: Level;
  definition: SettingDefinition;
  setting: Setting;
}

/** One setting: its value, where it comes from, what it hides, and what can be done about it at this level. */
export function SettingPanel({ level, definition, setting }: SettingPanelProps) {
  const texts = useTexts();
  const { t } = texts;
  const { name, scopes } = definition;
  const caller = useCaller();
  const change = useSettingChange(level, name);
  const queries = useQueryClient();
  const save = async (value: string) => {
    await settings.putSetting({ params: { scope: level, name }, body: { value } });
    await queries.invalidateQueries({ queryKey: ['settings'] });
  };
  const [showsHistory, setShowsHistory] = useState(false);
  const mayManage = mayDo(caller, permissionToManage[level]);
  const isEditable = mayManage && scopes.includes(level) && !setting.locked;
  return (
    <article className="panel padded setting" aria-labelledby={name}>
      <div className="stack tight">
        <div className="row">
          <h2 id={name}>{settingName(texts, name)}</h2>
          <Badge tone={isSetAt(level, setting) ? 'accent' : undefined}>
            {t(`Settings.source.${setting.source}`)}
          </Badge>
          {(setting.locked || setting.lockedHere) && (
            <Badge tone="warn">
              <Lock aria-hidden width={12} height={12} />
              {t('Settings.fields.locked')}
            </Badge>
          )}
        </div>
        <p className="soft">{settingDescription(texts, definition)}</p>
        <code className="soft small">{name}</code>
      </div>
      <div className="stack tight setting-values">
        <SettingEditor
          key={setting.value}
          definition={definition}
          value={setting.value}
          isDisabled={!isEditable}
          onChange={(value) => change.mutate(value)}
          onSave={save}
        />
        {setting.locked && <p className="small soft">{t('Settings.messages.lockedAbove')}</p>}
        {!scopes.includes(level) && <p className="small soft">{t('Console.settings.otherLevel')}</p>}
        {setting.overrides.length > 0 && (
          <dl className="hidden-values small" aria-label={t('Console.settings.hides')}>
            {setting.overrides.map(({ source, value }) => (
              <div key={source}>
                <dt className="soft">{t(`Settings.source.${source}`)}</dt>
                <dd>{valueText(texts, definition, value)}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {change.error && <Failure error={change.error} />}
      <div className="row setting-actions">
        {isEditable && isSetAt(level, setting) && (
          <Button look="quiet" isDisabled={change.isPending} onPress={() => change.mutate(null)}>
            <Undo2 aria-hidden />
            {t('Settings.messages.reset')}
          </Button>
        )}
        {mayManage && level !== 'user' && scopes.includes(level) && !setting.locked && (
          <LockButton level={level} name={name} isLocked={setting.lockedHere} />
        )}
        <Button look="quiet" aria-expanded={showsHistory} onPress={() => setShowsHistory(!showsHistory)}>
          <History aria-hidden />
          {t('Workflow.messages.history')}
        </Button>
      </div>
      {showsHistory && (
        <Suspense>
          <SettingHistory level={level} definition={definition} />
        </Suspense>
      )}
    </article>
  );
}

function LockButton({ level, name, isLocked }: { level: Level; name: string; isLocked: boolean }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      (isLocked ? settings.unlockSetting : settings.lockSetting)({ params: { scope: level, name } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  const Icon = isLocked ? LockOpen : Lock;
  return (
    <>
      <Button look="quiet" isPending={isPending} onPress={() => mutate()}>
        <Icon aria-hidden />
        {t(isLocked ? 'Console.settings.unlock' : `Console.settings.lock.${level}`)}
      </Button>
      {error && <Failure error={error} />}
    </>
  );
}
