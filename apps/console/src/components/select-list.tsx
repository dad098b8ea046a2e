import { Check, ChevronsUpDown } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import { useTexts } from '../texts/texts';
import type { Option, SelectProps } from './select';
import { Skeleton } from './state';
import { TextField } from './text-field';

/** More than one sees at once are found by a part of their name. */
const MANY_OPTIONS = 30;

/** The open list of a select, and what its button becomes after that. */
export function SelectList({
  label,
  hidesLabel = false,
  options,
  value,
  onChange,
  description,
  search,
  ...rest
}: SelectProps) {
  // It opens once its button has the focus, so that the focus comes back to it.
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setOpen(true));
    return () => cancelAnimationFrame(frame);
  }, []);
  const toggle = (opens: boolean) => {
    setOpen(opens);
    if (!opens) search?.onChange('');
  };
  return (
    <AriaSelect
      {...rest}
      {...(hidesLabel ? { 'aria-label': label } : {})}
      className="field"
      autoFocus
      // What is typed may find somebody where nobody was suggested.
      allowsEmptyCollection={search !== undefined}
      isOpen={isOpen}
      onOpenChange={toggle}
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
        {search ? (
          <FoundOptions options={options} search={search} />
        ) : options.length > MANY_OPTIONS ? (
          <SearchableOptions options={options} />
        ) : (
          <Options options={options} className="list" />
        )}
      </Popover>
    </AriaSelect>
  );
}

interface OptionsProps {
  options: readonly Option[];
  className: string;
  isSearching?: boolean;
}

function Options({ options, className, isSearching = false }: OptionsProps) {
  const { t } = useTexts();
  return (
    <ListBox
      className={className}
      items={options}
      renderEmptyState={() =>
        isSearching ? <Skeleton lines={1} /> : <p className="soft">{t('Platform.lists.noMatches')}</p>
      }
    >
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
  );
}

function SearchField() {
  const { t } = useTexts();
  return (
    <div className="list-search">
      <TextField
        autoFocus
        hidesLabel
        label={t('Platform.actions.search')}
        placeholder={t('Platform.actions.search')}
      />
    </div>
  );
}

/** Matches that the platform finds for what is typed. */
function FoundOptions({
  options,
  search,
}: Required<Pick<SelectProps, 'search'>> & Pick<SelectProps, 'options'>) {
  return (
    <Autocomplete inputValue={search.text} onInputChange={search.onChange}>
      <SearchField />
      <Options options={options} className="list" isSearching={search.isSearching} />
    </Autocomplete>
  );
}

function SearchableOptions({ options }: { options: readonly Option[] }) {
  const { contains } = useFilter({ sensitivity: 'base' });
  return (
    <Autocomplete filter={contains}>
      <SearchField />
      <Virtualizer layout={ListLayout} layoutOptions={{ rowSize: 34 }}>
        <Options options={options} className="list long" />
      </Virtualizer>
    </Autocomplete>
  );
}
