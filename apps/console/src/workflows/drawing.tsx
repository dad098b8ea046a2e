import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { Skeleton } from '../components/state';
import type { StateGraphProps } from './state-graph';

const StateGraph = lazyPart(
  () => import('./state-graph'),
  ({ StateGraph }) => StateGraph,
);

/** States and transitions as a drawing, which is loaded when the page around it is shown. */
export const Drawing = (props: StateGraphProps) => (
  <Later
    place={
      <div className="state-graph">
        <Skeleton lines={3} height="4rem" />
      </div>
    }
  >
    <StateGraph {...props} />
  </Later>
);
