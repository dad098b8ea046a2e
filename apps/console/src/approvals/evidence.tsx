import type { Entity } from '../api/workflow';
import { Timeline } from '../entities/timeline';
import { WorkflowHistory } from '../entities/workflow-history';
import { mayDo, useCaller } from '../shell/caller';

/** What a decision is made by: what people say about an entity, and how it came to where it is. */
export function Evidence({ entity }: { entity: Entity }) {
  const caller = useCaller();
  return (
    <div className="evidence">
      {mayDo(caller, 'Timeline.Entries.Read') && <Timeline entity={entity} />}
      {mayDo(caller, 'Workflow.History.Read') && <WorkflowHistory entity={entity} />}
    </div>
  );
}
