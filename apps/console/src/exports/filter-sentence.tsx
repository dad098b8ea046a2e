import { Plus, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ExportField } from '../api/data-exchange';
import { Button } from '../components/button';
import { IconButton } from '../components/icon-button';
import { Select } from '../components/select';
import { TextField } from '../components/text-field';
import { useTexts, type Texts } from '../texts/texts';
import { isValueOf, operatorsOf, type Condition, type ExportFilter } from './conditions';

interface FilterSentenceProps {
  filters: readonly ExportFilter[];
  fields: readonly ExportField[];
  conditions: readonly Condition[];
  onChange: (conditions: readonly Condition[]) => void;
}

/** Which rows are exported, as a sentence that is put together from a field, what is said of it, and a value. */
export function FilterSentence({ filters, fields, conditions, onChange }: FilterSentenceProps) {
  const texts = useTexts();
  const { t } = texts;
  const free = filters.find((filter) => operatorsOf(filter, conditions).length > 0);
  const change = (changed: Condition) =>
    onChange(conditions.map((condition) => (condition.id === changed.id ? changed : condition)));
  // The focus goes to what is added, and back to where that was asked for when it is removed.
  const [addedId, setAddedId] = useState<number>();
  const addButton = useRef<HTMLButtonElement>(null);
  const add = (filter: ExportFilter) => {
    const id = Math.max(0, ...conditions.map((condition) => condition.id)) + 1;
    const operator = operatorsOf(filter, conditions)[0]!;
    setAddedId(id);
    onChange([...conditions, { id, field: filter.field, operator, value: '' }]);
  };
  const remove = (removed: Condition) => {
    onChange(conditions.filter(({ id }) => id !== removed.id));
    addButton.current?.focus();
  };
  return (
    <section className="stack tight" aria-labelledby="conditions">
      <h2 id="conditions">{t('Console.exports.conditions')}</h2>
      <p className="soft" role="status">
        {sentenceOf(texts, { filters, fields, conditions })}
      </p>
      {conditions.map((condition, index) => (
        <ConditionForm
          key={condition.id}
          number={index + 1}
          {...{ filters, fields, conditions, condition }}
          isAdded={condition.id === addedId}
          onChange={change}
          onRemove={() => remove(condition)}
        />
      ))}
      {free && (
        <div>
          <Button ref={addButton} onPress={() => add(free)}>
            <Plus aria-hidden />
            {t('Console.exports.addCondition')}
          </Button>
        </div>
      )}
    </section>
  );
}

type Sentence = Omit<FilterSentenceProps, 'onChange'>;

function sentenceOf(texts: Texts, { filters, fields, conditions }: Sentence): string {
  const { t, culture } = texts;
  const parts = conditions.flatMap(({ field, operator, value }) => {
    const filter = filters.find((one) => one.field === field);
    if (!filter || !isValueOf(filter, value)) return [];
    return [
      `${fieldName(texts, field, fields)} ${operatorName(texts, filter, operator)} ${valueName(texts, filter, value)}`,
    ];
  });
  if (parts.length === 0) return t('Console.exports.everyRow');
  return t('Console.exports.rowsWhere', { conditions: new Intl.ListFormat(culture).format(parts) });
}

/** What the export calls a field; one that is no column of it is called by a common name, or its own. */
function fieldName({ find }: Texts, field: string, fields: readonly ExportField[]): string {
  const header = fields.find(({ propertyPath }) => propertyPath === field)?.header;
  return header || (find(`Platform.fields.${field}`) ?? field);
}

const operatorName = ({ t }: Texts, { type }: ExportFilter, operator: string): string =>
  t(`Console.exports.operator.${type === 'timestamp' ? `${operator}Date` : operator}`);

function valueName({ t, date, dateTime }: Texts, { type }: ExportFilter, value: string): string {
  if (type === 'string') return t('Console.exports.quoted', { text: value.trim() });
  if (type === 'boolean') return t(`Platform.boolean.${value}`);
  // A day has no time zone: it is the same one everywhere. A preset of another program may have an instant.
  if (type === 'timestamp') return value.includes('T') ? dateTime(value) : date(`${value}T12:00:00`);
  return value.trim();
}

interface ConditionFormProps extends Sentence {
  number: number;
  condition: Condition;
  isAdded: boolean;
  onChange: (condition: Condition) => void;
  onRemove: () => void;
}

function ConditionForm(props: ConditionFormProps) {
  const texts = useTexts();
  const { t } = texts;
  const { number, filters, fields, conditions, condition, isAdded, onChange, onRemove } = props;
  const filter = filters.find(({ field }) => field === condition.field)!;
  const others = conditions.filter(({ id }) => id !== condition.id);
  const choose = (field: string) => {
    const next = filters.find((one) => one.field === field)!;
    onChange({ ...condition, field, operator: operatorsOf(next, others)[0]!, value: '' });
  };
  return (
    <div role="group" aria-label={t('Console.exports.condition', { number })} className="condition">
      <Select
        hidesLabel
        autoFocus={isAdded}
        label={t('Console.exports.field')}
        options={filters
          .filter((one) => operatorsOf(one, others).length > 0)
          .map(({ field }) => ({ id: field, label: fieldName(texts, field, fields) }))}
        value={condition.field}
        onChange={choose}
      />
      <Select
        hidesLabel
        label={t('Console.exports.relation')}
        options={operatorsOf(filter, conditions, condition).map((id) => ({
          id,
          label: operatorName(texts, filter, id),
        }))}
        value={condition.operator}
        onChange={(operator) => onChange({ ...condition, operator })}
      />
      <div className="condition-value">
        <ConditionValue filter={filter} condition={condition} onChange={onChange} />
      </div>
      <IconButton label={t('Console.exports.removeCondition', { number })} onPress={onRemove}>
        <Trash2 aria-hidden />
      </IconButton>
    </div>
  );
}

function ConditionValue({
  filter,
  condition,
  onChange,
}: Pick<ConditionFormProps, 'condition' | 'onChange'> & { filter: ExportFilter }) {
  const { t } = useTexts();
  const label = t('Console.exports.value');
  const change = (value: string) => onChange({ ...condition, value });
  const choices =
    filter.type === 'boolean'
      ? ['true', 'false'].map((id) => ({ id, label: t(`Platform.boolean.${id}`) }))
      : filter.values?.map((id) => ({ id, label: id }));
  if (choices)
    return (
      <Select
        hidesLabel
        label={label}
        placeholder={t('Console.exports.chooseValue')}
        options={choices}
        value={condition.value === '' ? null : condition.value}
        onChange={change}
      />
    );
  const isWrong = condition.value.trim() !== '' && !isValueOf(filter, condition.value);
  const isNumber = filter.type === 'integer' || filter.type === 'number';
  return (
    <TextField
      hidesLabel
      label={label}
      type={filter.type === 'timestamp' ? 'date' : 'text'}
      inputMode={isNumber ? 'decimal' : 'text'}
      value={condition.value}
      onChange={change}
      errorMessage={isWrong ? t('Console.forms.Format') : undefined}
    />
  );
}
