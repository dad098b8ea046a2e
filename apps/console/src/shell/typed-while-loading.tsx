import { useLayoutEffect, type RefObject } from 'react';

/** For longer nobody writes without seeing what. */
const KEPT_MILLISECONDS = 2_000;

interface TypedWhileLoadingProps {
  /** Begins empty, and holds the text for the field. */
  typed: RefObject<string>;
  /** Called when somebody goes on elsewhere; the same each time. */
  onLeave: () => void;
}

/**
 * In the place of a dialog with a field that is being loaded: keeps what is typed for the field, and from what has the
 * focus until then. That is so for a moment and with a connection only: nobody is to write for minutes into nothing.
 */
export function TypedWhileLoading({ typed, onLeave }: TypedWhileLoadingProps) {
  // Not a moment longer than the field is away: its own letters are not for this.
  useLayoutEffect(() => {
    const keep = (event: KeyboardEvent) => {
      if (!navigator.onLine || isCommand(event) || event.isComposing) return;
      if ([...event.key].length === 1) typed.current += event.key;
      else if (event.key === 'Backspace') typed.current = [...typed.current].slice(0, -1).join('');
      // A dead key makes the next letter another one, and is none itself.
      else if (event.key !== 'Enter') return;
      event.preventDefault();
      event.stopPropagation();
    };
    const stopKeeping = () => removeEventListener('keydown', keep, { capture: true });
    addEventListener('keydown', keep, { capture: true });
    addEventListener('pointerdown', onLeave, { capture: true });
    addEventListener('focusin', onLeave);
    const timer = setTimeout(stopKeeping, KEPT_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      stopKeeping();
      removeEventListener('pointerdown', onLeave, { capture: true });
      removeEventListener('focusin', onLeave);
    };
  }, [typed, onLeave]);
  return (
    <div className="modal-overlay passive" aria-hidden>
      <div className="modal palette">
        <div className="dialog">
          <div className="skeleton" style={{ height: '2.6rem' }} />
        </div>
      </div>
    </div>
  );
}

const isMac = /^(Mac|iP)/.test(navigator.platform);

/** AltGr, which is Ctrl with Alt, and the option key of a Mac write letters; other such keys alone command. */
const isCommand = ({ metaKey, ctrlKey, altKey }: KeyboardEvent): boolean =>
  metaKey || (isMac ? ctrlKey : ctrlKey !== altKey);
