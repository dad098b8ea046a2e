import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/button';
import { IconButton } from '../components/icon-button';
import { Checkbox, Choices } from '../components/choices';
import { Callout } from '../components/state';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';
import { sampleOf, type Data, type Shape } from './sample-data';

interface SampleDataFormProps {
  shape: Shape & { kind: 'group' };
  data: Data;
  onChange: (data: Data) => void;
}

/** What the template is looked at with: fields for what it reads, or all of it as JSON. */
export function SampleDataForm({ shape, data, onChange }: SampleDataFormProps) {
  const { t } = useTexts();
  const [how, setHow] = useState<'form' | 'json'>('form');
  return (
    <div className="stack">
      <p className="soft small">{t('Console.templates.data.help')}</p>
      <Choices
        label={t('Console.templates.data.how')}
        value={how}
        onChange={setHow}
        options={[
          { id: 'form', label: t('Console.templates.data.form') },
          { id: 'json', label: 'JSON' },
        ]}
      />
      {how === 'json' && <JsonField data={data} onChange={onChange} />}
      {how === 'form' && shape.members.size === 0 && (
        <p className="soft">{t('Console.templates.data.none')}</p>
      )}
      {how === 'form' && <Members shape={shape} value={data} onChange={(next) => onChange(next as Data)} />}
    </div>
  );
}

function JsonField({ data, onChange }: { data: Data; onChange: (data: Data) => void }) {
  const { t } = useTexts();
  const [text, setText] = useState(() => JSON.stringify(data, null, 2));
  const [problem, setProblem] = useState<string>();
  const write = (next: string) => {
    setText(next);
    try {
      const value: unknown = JSON.parse(next);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('{ … }');
      setProblem(undefined);
      onChange(value as Data);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <div className="stack json-field">
      <TextField label={t('Console.templates.data.json')} value={text} onChange={write} isMultiline />
      {problem && (
        <Callout tone="warn" title={t('Console.templates.data.notJson')}>
          {problem}
        </Callout>
      )}
    </div>
  );
}

interface FieldProps {
  shape: Shape;
  value: unknown;
  onChange: (value: unknown) => void;
  name: string;
}

function Field(props: FieldProps) {
  const { shape } = props;
  if (shape.kind === 'value') return <ValueField {...props} type={shape.type} />;
  if (shape.kind === 'list') return <ListField {...props} shape={shape} />;
  return (
    <fieldset className="stack data-group">
      <legend>{props.name}</legend>
      <Members {...props} shape={shape} />
    </fieldset>
  );
}

type MembersProps = Omit<FieldProps, 'name'> & { shape: Shape & { kind: 'group' } };

function Members({ shape, value, onChange }: MembersProps) {
  const members = (typeof value === 'object' && value !== null ? value : {}) as Data;
  return [...shape.members].map(([key, member]) => (
    <Field
      key={key}
      shape={member}
      value={members[key]}
      onChange={(next) => onChange({ ...members, [key]: next })}
      name={key}
    />
  ));
}

function ListField({ shape, value, onChange, name }: FieldProps & { shape: Shape & { kind: 'list' } }) {
  const { t } = useTexts();
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  return (
    <fieldset className="stack data-group">
      <legend>{name}</legend>
      {items.map((item, index) => (
        <div key={index} className="data-item">
          <Field
            shape={shape.item}
            value={item}
            onChange={(next) => onChange(items.map((former, at) => (at === index ? next : former)))}
            name={`${name} ${index + 1}`}
          />
          <IconButton
            label={t('Console.templates.data.remove', { name: `${name} ${index + 1}` })}
            onPress={() => onChange(items.filter((_, at) => at !== index))}
          >
            <Trash2 aria-hidden />
          </IconButton>
        </div>
      ))}
      <div>
        <Button onPress={() => onChange([...items, items.at(-1) ?? sampleOf(shape.item, name)])}>
          <Plus aria-hidden />
          {t('Console.templates.data.add', { name })}
        </Button>
      </div>
    </fieldset>
  );
}

function ValueField({ value, onChange, name, type }: FieldProps & { type: string }) {
  if (type === 'boolean') {
    return (
      <Checkbox isSelected={Boolean(value)} onChange={onChange}>
        {name}
      </Checkbox>
    );
  }
  const isText = typeof value !== 'object' || value === null;
  return (
    <TextField
      label={name}
      value={isText ? String(value ?? '') : JSON.stringify(value)}
      onChange={(text) => onChange(type === 'number' ? numberOf(text) : text)}
    />
  );
}

/** A number, where the text is one; a person may be about to write it. */
const numberOf = (text: string): number | string =>
  /^-?\d+(\.\d*[1-9])?$/.test(text.trim()) ? Number(text) : text;
