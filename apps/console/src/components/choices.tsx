import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';

interface CheckboxProps {
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  children: ReactNode;
}

export function Checkbox({ children, ...props }: CheckboxProps) {
  return (
    <AriaCheckbox {...props} slot={null} className="checkbox">
      {({ isSelected }) => (
        <>
          <span className="box">{isSelected && <Check aria-hidden />}</span>
          <span>{children}</span>
        </>
      )}
    </AriaCheckbox>
  );
}

interface ChoicesProps<Id extends string> {
  label: string;
  value: Id | null;
  onChange: (id: Id) => void;
  options: readonly { id: Id; label: string; description?: string }[];
  /** Side by side as cards, for a choice that deserves the room. */
  asCards?: boolean;
}

/** One of a few things, all of them seen. */
export function Choices<Id extends string>({
  label,
  value,
  onChange,
  options,
  asCards = false,
}: ChoicesProps<Id>) {
  return (
    <RadioGroup className="field" value={value} onChange={(id) => onChange(id as Id)}>
      <Label>{label}</Label>
      <div className={asCards ? 'cards' : 'stack tight'}>
        {options.map(({ id, label: name, description }) => (
          <Radio key={id} value={id} className={asCards ? 'radio card' : 'radio'}>
            <span className="box" />
            <span>
              <span className="choice-name">{name}</span>
              {description && <span className="choice-description">{description}</span>}
            </span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
