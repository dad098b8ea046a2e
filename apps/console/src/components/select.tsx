import { ChevronsUpDown } from 'lucide-react';
import { Suspense, useId, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { lazyPart } from './lazy-part';

const loadList = () => import('./select-list');
const SelectList = lazyPart(loadList, ({ SelectList }) => SelectList);

/** For those who point at it or come to it by keyboard: it is there by the time they press. */
const prepareList = () => void loadList().catch(() => undefined);

export interface Option {
  id: string;
  label: string;
  description?: string | undefined;
}

export interface SelectProps {
  label: string;
  /** Read aloud only. */
  hidesLabel?: boolean;
  options: readonly Option[];
  value: string | null;
  onChange: (id: string) => void;
  placeholder?: string;
  isDisabled?: boolean;
  autoFocus?: boolean;
  description?: string | undefined;
  /** Where the options are found by the platform: what is typed, of which `options` are the matches. */
  search?: { text: string; onChange: (text: string) => void; isSearching: boolean };
}

/** One of a few things. The list is loaded for those who open it. */
export function Select(props: SelectProps) {
  const [isWanted, setWanted] = useState(false);
  const button = <ClosedSelect {...props} onOpen={() => setWanted(true)} />;
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <SelectList {...props} />
    </Suspense>
  );
}

/** Looks and reads as the button of the list does while that is closed. */
function ClosedSelect({
  label,
  hidesLabel = false,
  options,
  value,
  placeholder,
  isDisabled = false,
  autoFocus = false,
  description,
  onOpen,
}: SelectProps & { onOpen: () => void }) {
  const id = useId();
  const chosen = options.find((option) => option.id === value);
  return (
    <div className="field">
      {!hidesLabel && (
        <span id={`${id}label`} className="react-aria-Label">
          {label}
        </span>
      )}
      <Button
        id={id}
        className="select-button"
        isDisabled={isDisabled}
        autoFocus={autoFocus}
        aria-haspopup="listbox"
        {...(hidesLabel ? { 'aria-label': label } : {})}
        aria-labelledby={`${id}value ${hidesLabel ? id : `${id}label`}`}
        {...(description ? { 'aria-describedby': `${id}description` } : {})}
        onHoverStart={prepareList}
        onFocus={prepareList}
        onPress={onOpen}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') onOpen();
          else event.continuePropagation();
        }}
      >
        <span id={`${id}value`} className="select-value" {...(chosen ? {} : { 'data-placeholder': true })}>
          {chosen?.label ?? placeholder}
        </span>
        <ChevronsUpDown aria-hidden />
      </Button>
      {description && (
        <span id={`${id}description`} className="description">
          {description}
        </span>
      )}
    </div>
  );
}
