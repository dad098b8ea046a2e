import { Suspense, type ReactNode } from 'react';
import { useAfterPaint } from './after-paint';

interface LaterProps {
  /** As large as what comes, so that nothing moves then. */
  place: ReactNode;
  children: ReactNode;
}

/**
 * A part of a page that is loaded when what is around it is painted, and rendered in pieces between which keys and clicks
 * are answered.
 */
export const Later = ({ place, children }: LaterProps) =>
  useAfterPaint() ? <Suspense fallback={place}>{children}</Suspense> : place;
