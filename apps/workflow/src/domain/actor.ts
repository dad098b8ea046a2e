/** Who changed something, as the history and events name them. */
export interface Actor {
  userId: string;
  userName: string;
}

/** Who ends what time ends. */
export const SYSTEM_ACTOR: Actor = { userId: 'system', userName: 'System' };
