import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { SlidersHorizontal } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import type { Permission } from '@plinth/contracts/permissions';
import { settingDefinitionsQuery, settingsQuery, type Level } from '../api/settings';
import { Page } from '../components/page';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { TextField } from '../components/text-field';
import { isOfHost, mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { SettingPanel } from './setting-panel';
import { settingDescription, settingName } from './setting-text';

const levels: readonly { level: Level; permission?: Permission; hostOnly?: boolean }[] = [
  { level: 'user' },
  { level: 'tenant', permission: 'Settings.Tenant.Read' },
  { level: 'global', permission: 'Settings.Global.Read', hostOnly: true },
];

/** The settings of the person, and for those who may, of the tenant and of the platform. */
export function SettingsPage() {
  const { t } = useTexts();
  const caller = useCaller();
  const { level: wanted = 'user' } = useSearch({ from: '/shell/settings' });
  const shown = levels.filter(
    ({ permission, hostOnly = false }) => mayDo(caller, permission) && (!hostOnly || isOfHost(caller)),
  );
  const { level } = shown.find((one) => one.level === wanted) ?? shown[0]!;
  return (
    <Page title={t('Platform.areas.settings')} lead={t(`Console.settings.lead.${level}`)}>
      {shown.length > 1 && (
        <nav className="tabs" aria-label={t('Settings.fields.scope')}>
          {shown.map((one) => (
            <Link
              key={one.level}
              to="/settings"
              search={{ level: one.level }}
              className="tab"
              aria-current={one.level === level ? 'page' : undefined}
            >
              {t(`Settings.scope.${one.level}`)}
            </Link>
          ))}
        </nav>
      )}
      <SettingsOfLevel key={level} level={level} />
    </Page>
  );
}

function SettingsOfLevel({ level }: { level: Level }) {
  const texts = useTexts();
  const { t } = texts;
  const definitions = useQuery(settingDefinitionsQuery);
  const values = useQuery(settingsQuery(level));
  // Many panels are rendered in pieces, between which keys and clicks are answered.
  const known = useDeferredValue(definitions.data);
  const current = useDeferredValue(values.data);
  const [search, setSearch] = useState('');
  const wanted = useDeferredValue(search.trim().toLocaleLowerCase(texts.culture));
  const error = definitions.error ?? values.error;
  const retry = () => void Promise.all([definitions.refetch(), values.refetch()]);
  if (error && (!known || !current)) return <Failure error={error} onRetry={retry} />;
  if (!known || !current) return <Skeleton lines={4} height="7rem" />;
  const listed = known
    .filter(({ name }) => current[name])
    .filter((definition) =>
      [definition.name, settingName(texts, definition.name), settingDescription(texts, definition)].some(
        (text) => text.toLocaleLowerCase(texts.culture).includes(wanted),
      ),
    );
  return (
    <>
      <TextField
        hidesLabel
        label={t('Console.settings.search')}
        placeholder={t('Console.settings.search')}
        value={search}
        onChange={setSearch}
      />
      {listed.length === 0 && (
        <div className="panel">
          <EmptyState icon={SlidersHorizontal} title={t('Platform.lists.noMatches')} />
        </div>
      )}
      {listed.map((definition) => (
        <SettingPanel
          key={definition.name}
          level={level}
          definition={definition}
          setting={current[definition.name]!}
        />
      ))}
    </>
  );
}
