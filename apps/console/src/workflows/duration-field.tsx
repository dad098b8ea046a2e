import { useState } from 'react';
import { Select } from '../components/select';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';

const units = { minute: 60, hour: 3_600, day: 86_400 } as const;
type Unit = keyof typeof units;

/** The largest unit in which a duration is a whole number. */
const unitOf = (seconds: number | null): Unit =>
  (['day', 'hour', 'minute'] as const).find((unit) => seconds !== null && seconds % units[unit] === 0) ??
  'day';

interface DurationFieldProps {
  label: string;
  seconds: number | null;
  onChange: (seconds: number | null) => void;
  errorMessage: string | undefined;
}

/** A duration as a number and its unit; without a number there is none. */
export function DurationField({ label, seconds, onChange, errorMessage }: DurationFieldProps) {
  const { t, culture } = useTexts();
  const [unit, setUnit] = useState(() => unitOf(seconds));
  const [text, setText] = useState(() => (seconds === null ? '' : String(seconds / units[unit])));
  const write = (nextText: string, nextUnit: Unit) => {
    setText(nextText);
    setUnit(nextUnit);
    const count = /^\d{1,6}$/.test(nextText.trim()) ? Number(nextText) : 0;
    onChange(count > 0 ? count * units[nextUnit] : null);
  };
  const nameOf = (id: Unit) =>
    new Intl.NumberFormat(culture, { style: 'unit', unit: id, unitDisplay: 'long' })
      .formatToParts(2)
      .find(({ type }) => type === 'unit')!.value;
  return (
    <div className="duration">
      <TextField
        label={label}
        inputMode="decimal"
        value={text}
        onChange={(next) => write(next, unit)}
        placeholder={t('Console.workflows.never')}
        errorMessage={text.trim() !== '' && seconds === null ? t('Console.forms.Number') : errorMessage}
      />
      <Select
        hidesLabel
        label={t('Console.workflows.unitOf', { name: label })}
        options={(Object.keys(units) as Unit[]).map((id) => ({ id, label: nameOf(id) }))}
        value={unit}
        onChange={(next) => write(text, next as Unit)}
      />
    </div>
  );
}
