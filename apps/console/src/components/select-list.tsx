import { Check, ChevronsUpDown } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';

import type { SelectProps } from './select';

/** The open list of a select, and what its button becomes after that. */
export function SelectList({
  label,
  hidesLabel = false,
  options,
  value,
  onChange,
  description,
  ...rest
}: SelectProps) {
  // It opens once its button has the focus, so that the focus comes back to it.
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setOpen(true));
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <AriaSelect
      {...rest}
      {...(hidesLabel ? { 'aria-label': label } : {})}
      className="field"
      autoFocus
      isOpen={isOpen}
      onOpenChange={setOpen}
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
