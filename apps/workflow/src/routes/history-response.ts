import type { HistoryRow } from '../store/history-store';

export const toHistoryResponse = ({
  previousState,
  newState,
  transitionedAt,
  transitionedBy,
  comment,
}: HistoryRow) => ({ previousState, newState, transitionedAt, transitionedBy, comment });
