import { useEffect } from 'react';
import { afterPaint } from '../components/after-paint';

/**
 * Where what has the focus goes away, such as an entry that was deleted or a step that is done, the focus goes to what
 * is in its place: else those who hear the page would be nowhere. Whoever left it before is not brought back.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    const main = document.getElementById('main')!;
    let focused: EventTarget | null = null;
    let giveUp = () => {};
    const remember = ({ target }: FocusEvent) => {
      focused = target;
    };
    const forget = () =>
      // What is about to go away, or is hidden or disabled until then, loses the focus too.
      queueMicrotask(() => {
        if (document.activeElement !== document.body || !(focused instanceof Element)) return;
        if (focused.checkVisibility() && !focused.matches(':disabled')) focused = null;
      });
    const observer = new MutationObserver((removals) => {
      if (!(focused instanceof Element) || focused.isConnected) return;
      const gone = focused;
      const removal = removals.find(({ removedNodes }) =>
        Array.from(removedNodes).some((node) => node.contains(gone)),
      );
      if (!removal) return;
      const { nextSibling, previousSibling, target } = removal;
      giveUp();
      // Most pages know better where to go on, and say so until then.
      giveUp = afterPaint(() => {
        if (document.activeElement !== document.body) return;
        const place = [nextSibling, previousSibling, target].find(
          (node) => node instanceof HTMLElement && node.isConnected && !node.matches(':disabled'),
        ) as HTMLElement | undefined;
        if (!place) return;
        if (!place.matches('a, button, input, select, textarea, [tabindex]')) place.tabIndex = -1;
        place.focus({ preventScroll: true });
      });
    });
    observer.observe(main, { childList: true, subtree: true });
    main.addEventListener('focusin', remember);
    main.addEventListener('focusout', forget);
    return () => {
      observer.disconnect();
      main.removeEventListener('focusin', remember);
      main.removeEventListener('focusout', forget);
      giveUp();
    };
  }, []);
}
