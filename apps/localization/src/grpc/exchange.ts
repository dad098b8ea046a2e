import { canonicalCulture } from '@plinth/contracts/schemas';
import {
  OVERRIDE_KEY_LENGTH_MAX,
  OVERRIDE_VALUE_LENGTH_MAX,
  RESOURCE_NAME_LENGTH_MAX,
} from '@plinth/contracts/localization/shapes';
import { defineExchange, type ImportRow, type RowFault } from '@plinth/conventions/exchange/definition';
import { breaksRule, type CellFault } from '@plinth/conventions/exchange/field';
import { textField } from '@plinth/conventions/exchange/fields';
import { said, shownValue } from '@plinth/conventions/exchange/convert';
import { rawStatements } from '@plinth/conventions/exchange/raw-statements';
import { rowText } from '@plinth/conventions/exchange/row-texts';
import { validationCode } from '@plinth/kernel/problem';
import { comparePlaceholders, placeholdersOf } from '../domain/placeholders';
import { baseText, type BaseTexts, type Override } from '../domain/texts';
import { tellChange } from '../store/override-store';

const CULTURE_LENGTH_MAX = 35;

/** `Localization.Overrides`: the texts that a tenant says in its own words (silences, row 65). */
export const overridesExchange = (base: BaseTexts, onChange: (tenantId: string) => void) =>
  defineExchange({
    name: 'Localization.Overrides',
    entityType: 'LocalizationOverride',
    permission: 'Localization.Overrides.Manage',
    importable: true,
    table: 'override',
    key: ['resourceName', 'cultureName', 'key'],
    defaultSort: 'resourceName,cultureName,key',
    searchable: ['key', 'value'],
    rowsAreIndependent: true,
    onInsert: { modified_by: 'caller-id' },
    onUpdate: { version: 'next', modified_at: 'now', modified_by: 'caller-id' },
    fields: {
      resourceName: textField({
        column: 'resource_name',
        header: 'Resource',
        description: 'Name of the set of texts that the text belongs to',
        required: true,
        normalize: true,
        lengthMax: RESOURCE_NAME_LENGTH_MAX,
        aliases: ['resource'],
        synonyms: [
          'bundle',
          'namespace',
          'module',
          'component',
          'category',
          'domain',
          'section',
          'area',
          'group',
          'package',
          'dictionary',
          'file',
          'resource set',
          'resource file',
          'ressource',
          'nom de la ressource',
          'nom ressource',
          'espace',
          'espace de noms',
          'domaine',
          'catégorie',
          'rubrique',
          'groupe',
          'ensemble',
          'composant',
          'paquet',
          'fichier',
          'ressourcenname',
          'bereich',
          'modul',
          'namensraum',
          'datei',
          'gruppe',
          'textgruppe',
          'kategorie',
          'komponente',
          'abschnitt',
          'domäne',
          'wörterbuch',
          'paket',
          'recurso',
          'nombre del recurso',
          'módulo',
          'espacio de nombres',
          'dominio',
          'archivo',
          'fichero',
          'grupo',
          'categoría',
          'componente',
          'sección',
          'paquete',
          'área',
        ],
      }),
      cultureName: textField({
        column: 'culture_name',
        header: 'Culture',
        description: 'Language of the text as a BCP 47 tag, such as fr-CA',
        required: true,
        lengthMax: CULTURE_LENGTH_MAX,
        aliases: ['culture', 'culture code'],
        synonyms: [
          'language',
          'language code',
          'language tag',
          'iso language code',
          'target language',
          'lang',
          'lang code',
          'locale',
          'locale code',
          'langue',
          'langue cible',
          'langue iso',
          'code langue',
          'code de langue',
          'code culture',
          'nom culture',
          'sprache',
          'sprache iso',
          'sprachcode',
          'sprachkürzel',
          'zielsprache',
          'kultur',
          'gebietsschema',
          'idioma',
          'idioma de destino',
          'código de idioma',
          'código idioma',
          'lengua',
          'lenguaje',
          'cultura',
          'localización',
        ],
        refine: cultureReader(),
      }),
      key: textField({
        column: 'key',
        header: 'Key',
        description: 'Key of the text inside its resource, nested names joined by dots',
        required: true,
        normalize: true,
        lengthMax: OVERRIDE_KEY_LENGTH_MAX,
        aliases: ['text key', 'resource key'],
        synonyms: [
          'identifier',
          'name',
          'code',
          'message id',
          'message key',
          'msgid',
          'token',
          'term',
          'context',
          'keyword',
          'label key',
          'entry key',
          'key name',
          'translation key',
          'string id',
          'resource id',
          'clé',
          'cle',
          'nom de la clé',
          'clé du texte',
          'clé de traduction',
          'identifiant',
          'contexte',
          'schlüssel',
          'schluessel',
          'schlüsselname',
          'textschlüssel',
          'kennung',
          'bezeichner',
          'kontext',
          'eintrag',
          'clave',
          'clave del texto',
          'clave de traducción',
          'llave',
          'identificador',
          'código',
          'contexto',
        ],
      }),
      value: textField({
        column: 'value',
        header: 'Value',
        description: 'The text; it takes the placeholders of the text that it replaces',
        required: true,
        allowsEmpty: true,
        lengthMax: OVERRIDE_VALUE_LENGTH_MAX,
        aliases: ['text value'],
        synonyms: [
          'text',
          'new text',
          'translation',
          'translated text',
          'message',
          'msgstr',
          'string',
          'label',
          'content',
          'override',
          'target',
          'target text',
          'localized value',
          'valeur',
          'valeur traduite',
          'texte',
          'texte traduit',
          'nouveau texte',
          'traduction',
          'libellé',
          'contenu',
          'chaîne',
          'cible',
          'wert',
          'übersetzung',
          'übersetzter text',
          'neuer text',
          'meldung',
          'inhalt',
          'zieltext',
          'beschriftung',
          'zeichenkette',
          'valor',
          'texto',
          'texto traducido',
          'nuevo texto',
          'traducción',
          'mensaje',
          'contenido',
          'etiqueta',
          'cadena',
          'destino',
        ],
      }),
    },
    check: async (rows) => rows.flatMap((row) => checkPlaceholders(base, row)),
    afterWrite: (rows, { connection, caller }) =>
      tellChange(rawStatements(connection), caller, rows.map(toOverride)),
    afterUndo: ({ removed, restored }, { connection, caller }) =>
      tellChange(
        rawStatements(connection),
        caller,
        [...removed, ...restored.map(({ row }) => row)].map((row) => ({
          resourceName: String(row['resource_name']),
          cultureName: String(row['culture_name']),
        })),
      ),
    afterCommit: ({ caller }) => onChange(caller.tenantId),
  });

const toOverride = ({ values }: ImportRow): Override => values as unknown as Override;

function checkPlaceholders(base: BaseTexts, row: ImportRow): RowFault[] {
  const override = toOverride(row);
  const replaced = baseText(base, override);
  if (replaced === undefined || !comparePlaceholders(replaced, override.value)) return [];
  const wanted = [...placeholdersOf(replaced)].map((name) => `{${name}}`).join(', ') || '–';
  return [
    {
      rowNumber: row.rowNumber,
      kind: 'Validation',
      column: 'value',
      value: shownValue(override.value),
      code: validationCode('Format'),
      ...said(rowText('placeholders', wanted), 'value'),
    },
  ];
}

const CULTURES_KEPT_MAX = 5_000;

/** Reads language tags; a file names few of them, many times. */
function cultureReader(): (text: string) => string | CellFault {
  const known = new Map<string, string | CellFault>();
  return (text) => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const culture = canonicalCulture(text.trim()) ?? breaksRule('Format', rowText('writtenLike', 'fr-CA'));
    if (known.size < CULTURES_KEPT_MAX) known.set(text, culture);
    return culture;
  };
}
