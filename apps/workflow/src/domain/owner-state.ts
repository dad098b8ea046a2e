/** Why the owner of an entity refuses one of its moves. */
export interface Objection {
  /** `*` for all moves. */
  targetState: string;
  reason: string;
  /** True: this caller may not make the move. False: no caller could make it now. */
  concernsCaller: boolean;
}

/** What the service that owns an entity says about it. */
export interface OwnerState {
  exists: boolean;
  state: string;
  objections: readonly Objection[];
  /** Names what an approver decides about; null where the owner does not bind approvals to it. */
  version: string | null;
}
