import { defineExchange } from '@plinth/exchange/definition';
import { integerField, textField, timestampField } from '@plinth/exchange/fields';

const TEXT_LENGTH_MAX = 4_000;
const text = (column: string, header: string, description: string) =>
  textField({ column, header, description, lengthMax: TEXT_LENGTH_MAX });

/** `Workflow.History`: the moves of all entities. Only a transition writes them, so that they cannot be imported. */
export const historyExchange = defineExchange({
  name: 'Workflow.History',
  entityType: 'WorkflowHistoryEntry',
  permission: 'Workflow.History.Read',
  importable: false,
  table: 'move',
  key: [],
  defaultSort: 'transitionedAt',
  searchable: ['entityId', 'comment'],
  fields: {
    entityType: text('entity_type', 'Entity type', 'Type of the entity that was moved'),
    entityId: text('entity_id', 'Entity', 'Id of the entity that was moved'),
    position: integerField({
      column: 'position',
      header: 'Position',
      description: 'Counts the moves of one entity',
    }),
    transitionName: text('transition_name', 'Transition', 'Name of the transition in the definition'),
    previousState: text('previous_state', 'From', 'State before the move'),
    newState: text('new_state', 'To', 'State after the move'),
    transitionedAt: timestampField({
      column: 'transitioned_at',
      header: 'At',
      description: 'When it was moved',
    }),
    transitionedBy: text('transitioned_by', 'By', 'Id of the user who moved it'),
    transitionedByName: text(
      'transitioned_by_name',
      'By name',
      'Name of the user who moved it, at that time',
    ),
    comment: text('comment', 'Comment', 'What was said about it'),
  },
});
