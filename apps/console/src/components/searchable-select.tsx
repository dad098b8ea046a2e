import { ChevronsUpDown } from 'lucide-react';
import { Button } from 'react-aria-components/Button';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { Option } from './select';

interface SearchableSelectProps {
  label: string;
  options: readonly Option[];
  value: string | null;
  onChange: (id: string) => void;
  placeholder: string;
  autoFocus?: boolean;
}

/** One of many things, found by a part of its name. */
export function SearchableSelect({
  label,
  options,
  value,
  onChange,
  placeholder,
  autoFocus = false,
}: SearchableSelectProps) {
  return (
    <ComboBox
      className="field"
      aria-label={label}
      // What opened it was pressed to choose.
      autoFocus={autoFocus}
      menuTrigger="focus"
      defaultItems={options}
      selectedKey={value}
      onSelectionChange={(key) => key !== null && key !== value && onChange(String(key))}
    >
      <div className="combo-box">
        <Input className="input" placeholder={placeholder} />
        <Button className="combo-box-button">
          <ChevronsUpDown aria-hidden />
        </Button>
      </div>
      <Popover className="popover" offset={4}>
        <Virtualizer layout={ListLayout} layoutOptions={{ rowSize: 34 }}>
          <ListBox<Option> className="list long">
            {(option) => (
              <ListBoxItem id={option.id} textValue={option.label} className="item">
                {option.label}
              </ListBoxItem>
            )}
          </ListBox>
        </Virtualizer>
      </Popover>
    </ComboBox>
  );
}
