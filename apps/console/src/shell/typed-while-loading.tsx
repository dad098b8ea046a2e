import { useLayoutEffect, type RefObject } from 'react';

/**
 * In the place of a field that is being loaded: keeps what is typed for it, and from what has the focus until then.
 * @param typed begins empty, and holds the text for the field
 */
export function TypedWhileLoading({ typed }: { typed: RefObject<string> }) {
  // Not a moment longer than the field is away: its own letters are not for this.
  useLayoutEffect(() => {
    const keep = (event: KeyboardEvent) => {
      // Together they are AltGr, which writes letters; alone each of them commands.
      const isCommand = event.metaKey || event.ctrlKey !== event.altKey;
      if (isCommand || event.isComposing) return;
      if ([...event.key].length === 1) typed.current += event.key;
      else if (event.key === 'Backspace') typed.current = [...typed.current].slice(0, -1).join('');
      else if (event.key !== 'Enter') return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener('keydown', keep, { capture: true });
    return () => removeEventListener('keydown', keep, { capture: true });
  }, [typed]);
  return null;
}
