import { useEffect } from 'react';

/** In the place of a dialog that is being loaded: Escape gives it up as it will give up the dialog. */
export function EscapeWhileLoading({ onEscape }: { onEscape: () => void }) {
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') onEscape();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
  return null;
}
