import { Check, ChevronsUpDown } from 'lucide-react';
import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';

export interface Option {
  id: string;
  label: string;
  description?: string | undefined;
}

interface SelectProps {
  label: string;
  /** Read aloud only. */
  hidesLabel?: boolean;
  options: readonly Option[];
  value: string | null;
  onChange: (id: string) => void;
  placeholder?: string;
  isDisabled?: boolean;
  description?: string | undefined;
}

/** One of a few things. */
export function Select({
  label,
  hidesLabel = false,
  options,
  value,
  onChange,
  description,
  ...rest
}: SelectProps) {
  return (
    <AriaSelect
      {...rest}
      {...(hidesLabel ? { 'aria-label': label } : {})}
      className="field"
      value={value}
      onChange={(key) => key !== null && onChange(String(key))}
    >
      {!hidesLabel && <Label>{label}</Label>}
      <Button className="select-button">
        <SelectValue className="select-value" />
        <ChevronsUpDown aria-hidden />
      </Button>
      {description && (
        <Text slot="description" className="description">
          {description}
        </Text>
      )}
      <Popover className="popover" offset={4}>
        <ListBox className="list" items={options}>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.label} className="item">
              {({ isSelected }) => (
                <>
                  <span>{option.label}</span>
                  {option.description && <span className="item-description">{option.description}</span>}
                  {isSelected && <Check aria-hidden className="chosen" />}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
