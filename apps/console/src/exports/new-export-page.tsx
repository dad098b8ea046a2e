import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import { Suspense, useState } from 'react';
import {
  dataExchange,
  exportDefinitionsQuery,
  exportFieldsQuery,
  exportPresetsQuery,
  exportsQuery,
  type ExportDefinition,
  type ExportField,
  type ExportPreset,
} from '../api/data-exchange';
import { Button } from '../components/button';
import { Checkbox, Choices } from '../components/choices';
import { Page } from '../components/page';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { useStoredState } from '../components/stored-state';
import { TextField } from '../components/text-field';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { definitionName, fieldName } from '../imports/definition-name';
import { useTexts } from '../texts/texts';
import { BackToExports } from './back-to-exports';
import { isValueOf, toConditions, toFilter, type Condition } from './conditions';
import { FieldOrder, type ChosenField } from './field-order';
import { FilterSentence } from './filter-sentence';

const Presets = lazyPart(
  () => import('./presets'),
  ({ Presets }) => Presets,
);

type Format = 'csv' | 'xlsx' | 'json';

/** What to export, which of its fields in which order, and how. */
export function NewExportPage() {
  const texts = useTexts();
  const { t } = texts;
  const { data: definitions, error, refetch } = useQuery(exportDefinitionsQuery);
  const [stored, setName] = useStoredState('export-definition', '');
  const definition = definitions?.find(({ name }) => name === stored) ?? definitions?.[0];
  return (
    <Page title={t('Console.exports.new')} lead={t('Console.exports.newLead')} back={<BackToExports />}>
      {error && <Failure error={error} onRetry={refetch} />}
      {!definitions && !error && <Skeleton lines={5} height="3rem" />}
      {definitions?.length === 0 && (
        <div className="panel">
          <EmptyState icon={Lock} title={t('Console.exports.nothing')} />
        </div>
      )}
      {definitions && definition && (
        <>
          <Choices
            asCards
            label={t('Console.exports.what')}
            value={definition.name}
            onChange={setName}
            options={definitions.map(({ name }) => ({ id: name, label: definitionName(texts, name) }))}
          />
          <WithFields key={definition.name} definition={definition} />
        </>
      )}
    </Page>
  );
}

function WithFields({ definition }: { definition: ExportDefinition }) {
  const texts = useTexts();
  const { data, error, refetch } = useQuery(exportFieldsQuery(definition.name));
  const fields = data?.map((field) => ({
    ...field,
    header: fieldName(texts, definition.name, field.propertyPath, field.header ?? field.propertyPath),
  }));
  const { data: presets } = useQuery(exportPresetsQuery(definition.name));
  if (error) return <Failure error={error} onRetry={refetch} />;
  const place = <Skeleton lines={6} height="2.2rem" />;
  if (!fields || !presets) return place;
  return (
    <Later place={place}>
      <Settings definition={definition} fields={fields} presets={presets} />
    </Later>
  );
}

interface SettingsProps {
  definition: ExportDefinition;
  fields: readonly ExportField[];
  presets: readonly ExportPreset[];
}

/** The selected fields first and in their order, then the others. */
function orderOf(fields: readonly ExportField[], selected: readonly string[]): ChosenField[] {
  const chosen = fields.map(({ propertyPath, header }) => ({
    id: propertyPath,
    name: header ?? propertyPath,
    isSelected: selected.length === 0 || selected.includes(propertyPath),
  }));
  const rank = ({ id }: ChosenField) => (selected.includes(id) ? selected.indexOf(id) : selected.length);
  return chosen.sort((left, right) => rank(left) - rank(right));
}

/** In the language of now, which may be another one than when the order was made. */
const named = (field: ChosenField, fields: readonly ExportField[]): ChosenField => ({
  ...field,
  name: fields.find(({ propertyPath }) => propertyPath === field.id)?.header ?? field.name,
});

function Settings({ definition, fields, presets }: SettingsProps) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [order, setOrder] = useState(() => orderOf(fields, []));
  const [format, setFormat] = useState<Format>('xlsx');
  const [includesId, setIncludesId] = useState(false);
  const [search, setSearch] = useState('');
  const [conditions, setConditions] = useState<readonly Condition[]>([]);
  const filter = toFilter(conditions, definition.filters);
  const areSound = conditions.every(({ field, value }) => {
    const known = definition.filters.find((one) => one.field === field);
    return value.trim() === '' || (known !== undefined && isValueOf(known, value));
  });
  const selectedFields = order.filter(({ isSelected }) => isSelected).map(({ id }) => id);

  const start = useMutation({
    mutationFn: async () => {
      const body = {
        definitionName: definition.name,
        format,
        selectedFields,
        includeIdForImport: includesId,
        ...(Object.keys(filter).length > 0 ? { filter } : {}),
        ...(search.trim() ? { search: search.trim() } : {}),
      };
      const job = (await dataExchange.createExportJob({ body })).body;
      void queries.invalidateQueries({ queryKey: exportsQuery.queryKey });
      await navigate({ to: '/exports/$jobId', params: { jobId: job.id } });
    },
  });
  const use = (preset: ExportPreset) => {
    setOrder(orderOf(fields, preset.selectedFields));
    setFormat(preset.format as Format);
    setIncludesId(preset.includeIdForImport);
    setConditions(toConditions(preset.filter ?? {}, definition.filters));
  };

  return (
    <>
      <Suspense fallback={<PresetsPlace hasPresets={presets.length > 0} />}>
        <Presets
          definition={definition}
          presets={presets}
          current={{ selectedFields, format, includeIdForImport: includesId, filter }}
          onUse={use}
        />
      </Suspense>
      <div className="two-columns">
        <FieldOrder order={order.map((field) => named(field, fields))} onChange={setOrder} />
        <div className="stack loose">
          <Choices
            label={t('DataExchange.fields.format')}
            value={format}
            onChange={setFormat}
            options={definition.supportedFormats.map((id) => ({
              id: id as Format,
              label: t(`DataExchange.format.${id}`),
            }))}
          />
          {definition.filters.length > 0 && (
            <FilterSentence
              filters={definition.filters}
              fields={fields}
              conditions={conditions}
              onChange={setConditions}
            />
          )}
          <TextField
            label={t('Console.exports.search')}
            description={t('Console.exports.searchHelp')}
            value={search}
            onChange={setSearch}
          />
          <Checkbox isSelected={includesId} onChange={setIncludesId}>
            {t('DataExchange.fields.includeIdForImport')}
          </Checkbox>
          {start.error && <Failure error={start.error} />}
          <div>
            <Button
              look="primary"
              isLarge
              isPending={start.isPending}
              isDisabled={selectedFields.length === 0 || !areSound}
              onPress={() => start.mutate()}
            >
              {t('Console.exports.start', { count: selectedFields.length })}
            </Button>
          </div>
        </div>
      </div>
    </>
  );
}

/** As large as the presets, so that nothing moves when they are there. */
function PresetsPlace({ hasPresets }: { hasPresets: boolean }) {
  const { t } = useTexts();
  return (
    <div className="stack tight" style={{ visibility: 'hidden' }} aria-hidden>
      <h2>{t('Console.exports.presets')}</h2>
      {hasPresets && <div className="button" />}
      <div className="row preset-form">
        <div className="field">
          <div className="input" />
        </div>
        <div className="button">{t('Console.exports.savePreset')}</div>
      </div>
    </div>
  );
}
