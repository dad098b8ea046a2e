import { defineExchange } from '@plinth/exchange/definition';
import { enumField, textField } from '@plinth/exchange/fields';
import { importSettings, type ImportParts } from '../app/import-settings';
import { mayReadGlobal } from '../domain/imported-setting';
import { notGlobalSql, visibleValueSql } from '../store/exchanged-settings';
import synonyms from './setting-values.synonyms.json';

const NAME_LENGTH_MAX = 200;
const USER_ID_LENGTH_MAX = 255;
const VALUE_LENGTH_MAX = 65_536;

/** `Settings.Values`: what is set at tenant and user level, and for the host tenant at global level. */
export const valuesExchange = (parts: ImportParts) =>
  defineExchange({
    name: 'Settings.Values',
    entityType: 'SettingValue',
    permission: 'Settings.Tenant.Manage',
    importable: true,
    table: 'setting_value',
    // Rights, locks and history are those of a name at a level.
    key: ['scope', 'userId', 'name'],
    defaultSort: 'name,scope,userId',
    searchable: ['name'],
    onUpdate: { updated_at: 'now' },
    visibleTo: (caller) => (mayReadGlobal(caller) ? undefined : notGlobalSql),
    widerPermission: 'Settings.Global.Read',
    widerOnHostOnly: true,
    fields: {
      name: textField({
        column: 'name',
        header: 'Name',
        description: 'Name of a setting that some service defines',
        required: true,
        compose: true,
        lengthMax: NAME_LENGTH_MAX,
        ...synonyms.name,
      }),
      scope: enumField({
        column: 'scope',
        header: 'Scope',
        description: 'user, tenant or global',
        required: true,
        values: { user: 'user', tenant: 'tenant', global: 'global' },
        ...synonyms.scope,
      }),
      userId: textField({
        column: 'user_id',
        header: 'User id',
        description: 'Whose value it is at the scope user; empty otherwise',
        allowsEmpty: true,
        lengthMax: USER_ID_LENGTH_MAX,
        ...synonyms.userId,
      }),
      value: textField({
        column: 'value',
        header: 'Value',
        description: 'The value as text; secrets are exported as *** and cannot be imported so',
        required: true,
        allowsEmpty: true,
        lengthMax: VALUE_LENGTH_MAX,
        exportAs: visibleValueSql,
        isSecret: true,
        ...synonyms.value,
      }),
    },
    ...importSettings(parts),
  });
