import { useInfiniteQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { settingHistoryQuery, type Level, type SettingDefinition } from '../api/settings';
import { itemsOf, PagedList } from '../components/paged-list';
import { usePersonNames } from '../components/person-names';
import { RelativeTime } from '../components/relative-time';
import { EmptyState } from '../components/state';
import { useTexts } from '../texts/texts';
import { valueText } from './setting-text';

/** Who changed a setting at a level, newest first. */
export function SettingHistory({ level, definition }: { level: Level; definition: SettingDefinition }) {
  const texts = useTexts();
  const { t } = texts;
  const query = useInfiniteQuery(settingHistoryQuery(level, definition.name));
  const nameOf = usePersonNames((itemsOf(query.data) ?? []).map(({ changedBy }) => changedBy));
  return (
    <PagedList
      query={query}
      skeleton={{ lines: 2, height: '1.4rem' }}
      empty={<EmptyState icon={History} title={t('Console.settings.neverChanged')} />}
    >
      {(changes) => (
        <ol className="history">
          {changes.map(({ id, kind, previousValue, newValue, changedAt, changedBy }) => (
            <li key={id} className="stack tight">
              <span>
                {kind === 'Set' || kind === 'Cleared'
                  ? t('Console.shell.valueOf', {
                      name: t(`Settings.change.${kind}`),
                      value: `${valueText(texts, definition, previousValue)} → ${valueText(texts, definition, newValue)}`,
                    })
                  : t(`Settings.change.${kind}`)}
              </span>
              <span className="soft small">
                {nameOf(changedBy)} · <RelativeTime instant={changedAt} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </PagedList>
  );
}
