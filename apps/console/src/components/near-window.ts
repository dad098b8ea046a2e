import { useEffect, useState, type RefObject } from 'react';

/**
 * Whether something is in sight, or was, or near: until then it needs no content.
 * @param heights what counts as near, in heights of the window; negative: how far inside of it
 */
export function useNearWindow(element: RefObject<Element | null>, heights = 1): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        setNear(true);
      },
      { rootMargin: `${heights * 100}% 0%` },
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element, heights]);
  return isNear;
}
