import { useRef } from 'react';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { useNearWindow } from '../components/near-window';
import { Skeleton } from '../components/state';
import type { StateGraphProps } from './state-graph';

const StateGraph = lazyPart(
  () => import('./state-graph'),
  ({ StateGraph }) => StateGraph,
);

/** Where a drawing will be. */
export const DrawingPlace = () => (
  <div className="state-graph">
    <Skeleton lines={3} height="4rem" />
  </div>
);

/** States and transitions as a drawing, which is loaded when the page around it is shown and one is near it. */
export function Drawing(props: StateGraphProps) {
  const place = useRef<HTMLDivElement>(null);
  // It is large, and on a phone most people do not come down to it.
  const isNear = useNearWindow(place, 0.2);
  // Those who hear the page come to it all the same.
  if (!isNear) return <div ref={place} className="state-graph" role="img" aria-label={props.label} />;
  return (
    <Later place={<DrawingPlace />}>
      <StateGraph {...props} />
    </Later>
  );
}
