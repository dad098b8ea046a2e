import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import {
  defineExchange,
  type BatchContext,
  type ImportRow,
  type RowFault,
} from '@plinth/conventions/exchange/definition';
import { said, shownValue } from '@plinth/conventions/exchange/convert';
import { enumField, textField } from '@plinth/conventions/exchange/fields';
import { rowText, type RowText } from '@plinth/conventions/exchange/row-texts';
import { holds, HOST_TENANT_ID, isOfHost, type Caller } from '@plinth/kernel/caller';
import { Problem, validationCode, type ValidationRule } from '@plinth/kernel/problem';
import type { Deps } from '../compose';
import { lockAbove } from '../domain/cascade';
import { requireFittingValue } from '../domain/value-schema';
import { SECRET, visibleValue } from '../domain/visible-value';
import {
  noteHistory,
  settingOf,
  storedSetting,
  takenBack,
  tell,
  type Change,
  type SettingRow,
} from './exchanged-settings';

type Needs = Pick<Deps, 'definitions' | 'box' | 'outbox'>;

const NAME_LENGTH_MAX = 200;
const USER_ID_LENGTH_MAX = 255;
const VALUE_LENGTH_MAX = 65_536;

/** Only secrets are masked, and so is the value of a setting that nobody defines any more. */
const shownValueSql = `CASE WHEN EXISTS (
    SELECT FROM setting_definition d WHERE d.tenant_id = '${HOST_TENANT_ID}' AND d.name = t.name AND NOT d.is_secret
  ) THEN t.value ELSE '${SECRET}' END`;

/** `Settings.Values`: what is set at tenant and user level, and for the host tenant at global level. */
export const valuesExchange = ({ definitions, box, outbox }: Needs) => {
  /** What a row replaces, for the history; and what it is to be, where the stored value is sealed. */
  const former = new WeakMap<ImportRow, string | null>();

  return defineExchange({
    name: 'Settings.Values',
    entityType: 'SettingValue',
    permission: 'Settings.Tenant.Manage',
    importable: true,
    table: 'setting_value',
    key: ['scope', 'userId', 'name'],
    defaultSort: 'name,scope,userId',
    searchable: ['name'],
    onUpdate: { updated_at: 'now' },
    visibleTo: (caller) => (mayReadGlobal(caller) ? undefined : `t.scope <> 'global'`),
    widerPermission: 'Settings.Global.Read',
    widerOnHostOnly: true,
    fields: {
      name: textField({
        column: 'name',
        header: 'Name',
        description: 'Name of a setting that some service defines',
        required: true,
        normalize: true,
        lengthMax: NAME_LENGTH_MAX,
        aliases: ['setting', 'setting name'],
        synonyms: [
          'key',
          'option',
          'parameter',
          'parameter name',
          'property',
          'preference',
          'configuration',
          'config key',
          'setting key',
          'variable',
          'policy',
          'nom',
          'paramètre',
          'nom du paramètre',
          'réglage',
          'nom du réglage',
          'clé',
          'propriété',
          'préférence',
          'einstellung',
          'einstellungsname',
          'name der einstellung',
          'schlüssel',
          'schluessel',
          'eigenschaft',
          'bezeichnung',
          'konfiguration',
          'präferenz',
          'nombre',
          'ajuste',
          'nombre del ajuste',
          'parámetro',
          'nombre del parámetro',
          'clave',
          'opción',
          'propiedad',
          'configuración',
          'preferencia',
        ],
      }),
      scope: enumField({
        column: 'scope',
        header: 'Scope',
        description: 'user, tenant or global',
        required: true,
        values: { user: 'user', tenant: 'tenant', global: 'global' },
        synonyms: [
          'level',
          'scope level',
          'setting scope',
          'applies to',
          'tier',
          'portée',
          'niveau',
          'périmètre',
          'étendue',
          'champ d’application',
          'ebene',
          'stufe',
          'bereich',
          'geltungsbereich',
          'gültigkeit',
          'gültigkeitsbereich',
          'reichweite',
          'ámbito',
          'nivel',
          'alcance',
        ],
      }),
      userId: textField({
        column: 'user_id',
        header: 'User id',
        description: 'Whose value it is at the scope user; empty otherwise',
        allowsEmpty: true,
        lengthMax: USER_ID_LENGTH_MAX,
        aliases: ['user'],
        synonyms: [
          'account',
          'user account',
          'user name',
          'login',
          'owner',
          'member',
          'subject',
          'utilisateur',
          'id utilisateur',
          'identifiant',
          'identifiant utilisateur',
          'nom d’utilisateur',
          'compte',
          'propriétaire',
          'benutzer',
          'benutzer id',
          'benutzername',
          'benutzerkennung',
          'benutzerkonto',
          'anwender',
          'nutzer',
          'konto',
          'eigentümer',
          'usuario',
          'id de usuario',
          'nombre de usuario',
          'identificador de usuario',
          'cuenta',
          'propietario',
        ],
      }),
      value: textField({
        column: 'value',
        header: 'Value',
        description: 'The value as text; secrets are exported as *** and cannot be imported so',
        required: true,
        allowsEmpty: true,
        lengthMax: VALUE_LENGTH_MAX,
        exportAs: shownValueSql,
        isSecret: true,
        synonyms: [
          'content',
          'data',
          'setting value',
          'current value',
          'config value',
          'parameter value',
          'valeur',
          'valeur actuelle',
          'valeur du réglage',
          'contenu',
          'wert',
          'aktueller wert',
          'einstellungswert',
          'inhalt',
          'valor',
          'valor actual',
          'valor del ajuste',
          'valor del parámetro',
          'contenido',
        ],
      }),
    },

    async check(rows, context) {
      const known = await definitions.all();
      await takeTurns(rows.map(settingOf), context);
      const locked = await readLocks(context);
      const stored = await readStored(rows, context);
      return rows.flatMap((row) => {
        const setting = settingOf(row);
        const definition = known.get(setting.name);
        const fault = faultOf(setting, definition, context.caller, locked);
        if (fault || !definition) return [{ rowNumber: row.rowNumber, ...fault! }];
        former.set(row, visibleValue(definition, stored.get(keyOf(setting)) ?? null));
        if (definition.isSecret) row.values['value'] = box.seal(setting.value);
        return [];
      });
    },

    async afterWrite(rows, context) {
      const known = await definitions.all();
      const changes = rows.map((row): Change => {
        const setting = settingOf(row);
        const value = visibleValue(known.get(setting.name)!, setting.value);
        return { setting, kind: 'Set', from: former.get(row) ?? null, to: value };
      });
      await noteHistory(changes, context);
      await tell(rows.map(settingOf), context);
    },
    async checkUndo(rows, context) {
      const settings = rows.map(storedSetting);
      await takeTurns(settings, context);
      const locked = await readLocks(context);
      const isRefused = (setting: SettingRow): boolean =>
        lockOn(setting, locked) !== undefined || !mayChange(setting, context.caller);
      return new Set(rows.filter((_, index) => isRefused(settings[index]!)).map((row) => String(row['id'])));
    },
    async afterUndo(undone, context) {
      const changes = takenBack(undone, await definitions.all());
      await noteHistory(changes, context);
      await tell(
        changes.map(({ setting }) => setting),
        context,
      );
    },
    afterCommit: () => outbox.wake(),
  });
};

/** What is global reaches beyond one tenant. */
const mayChange = ({ scope }: SettingRow, caller: Caller): boolean =>
  scope !== 'global' || (isOfHost(caller) && holds(caller, 'Settings.Global.Manage'));

const lockOn = ({ name, scope }: SettingRow, locked: ReadonlySet<string>): 'tenant' | 'global' | undefined =>
  lockAbove(
    {
      tenant: locked.has(JSON.stringify(['tenant', name])),
      global: locked.has(JSON.stringify(['global', name])),
    },
    scope,
  );

const mayReadGlobal = (caller: Caller): boolean => isOfHost(caller) && holds(caller, 'Settings.Global.Read');

const keyOf = ({ scope, userId, name }: Omit<SettingRow, 'value'>): string =>
  JSON.stringify([scope, userId, name]);

type Fault = Omit<RowFault, 'rowNumber'>;

/** What is wrong with a row, by the same rules as a change through HTTP. */
function faultOf(
  setting: SettingRow,
  definition: SettingDefinition | undefined,
  caller: Caller,
  locked: ReadonlySet<string>,
): Fault | undefined {
  const { name, scope, userId, value } = setting;
  const breaks = (column: keyof SettingRow, rule: ValidationRule, text: RowText): Fault => ({
    kind: 'Validation',
    column,
    value: definition?.isSecret && column === 'value' ? SECRET : shownValue(setting[column]),
    code: validationCode(rule),
    ...said(text, column),
  });
  if (!definition) return breaks('name', 'Enum', rowText('unknownReference', name));
  if (!definition.scopes.includes(scope))
    return breaks('scope', 'Enum', rowText('enum', definition.scopes.join(', ')));
  if (!mayChange(setting, caller)) return breaks('scope', 'Enum', rowText('notAllowed', scope));
  if (scope === 'user' && userId === '') return breaks('userId', 'NotEmpty', rowText('notEmpty'));
  if (scope !== 'user' && userId !== '') return breaks('userId', 'Format', rowText('mustBeEmpty'));
  if (definition.isSecret && value === SECRET) return breaks('value', 'Format', rowText('leftOut', SECRET));
  const lock = lockOn(setting, locked);
  if (lock) {
    const text = rowText('locked', name, lock);
    const code = 'Service:Persistence:Locked';
    return { kind: 'Persistence', column: 'name', value: name, code, ...said(text, 'name') };
  }
  try {
    requireFittingValue(definition, value);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, ...fault } = breaks('value', 'Format', rowText('notFitting', error.detail));
    return { ...fault, code: error.errors?.['value']?.[0] ?? code };
  }
}

/** The same turns that a change through HTTP takes, in an order that lets no two batches wait for each other. */
async function takeTurns(
  settings: readonly SettingRow[],
  { connection, caller }: BatchContext,
): Promise<void> {
  const names = [...new Set(settings.map(({ name }) => `${caller.tenantId}/${name}`))].sort();
  for (const name of names)
    await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

async function readLocks({ connection, caller }: BatchContext): Promise<Set<string>> {
  const { rows } = await connection.query<{ scope: string; name: string }>(
    `SELECT scope, name FROM setting_lock
     WHERE (tenant_id = $1 AND scope = 'tenant') OR (tenant_id = $2 AND scope = 'global')`,
    [caller.tenantId, HOST_TENANT_ID],
  );
  return new Set(rows.map(({ scope, name }) => JSON.stringify([scope, name])));
}

async function readStored(
  rows: readonly ImportRow[],
  { connection, caller }: BatchContext,
): Promise<Map<string, string>> {
  const stored = await connection.query<{
    scope: SettingScope;
    user_id: string;
    name: string;
    value: string;
  }>('SELECT scope, user_id, name, value FROM setting_value WHERE tenant_id = $1 AND name = ANY($2)', [
    caller.tenantId,
    [...new Set(rows.map((row) => settingOf(row).name))],
  ]);
  return new Map(
    stored.rows.map(({ scope, user_id, name, value }) => [keyOf({ scope, userId: user_id, name }), value]),
  );
}
