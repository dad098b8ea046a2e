import { startTransition, Suspense, useEffect, useState, type ReactNode } from 'react';
import { afterPaint } from './after-paint';

interface LaterProps {
  /** As large as what comes, so that nothing moves then. */
  place: ReactNode;
  children: ReactNode;
}

/**
 * A part of a page that is loaded when what is around it is painted, and rendered in pieces between which keys and clicks
 * are answered.
 */
export function Later({ place, children }: LaterProps) {
  const [isTime, setTime] = useState(false);
  useEffect(() => afterPaint(() => startTransition(() => setTime(true))), []);
  // Within: an update that can wait leaves what is shown until the part is there, so that the browser notes its painting.
  return <Suspense fallback={place}>{isTime ? children : place}</Suspense>;
}
