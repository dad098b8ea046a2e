/** What went wrong, in one sentence for the person who migrates. */
export class MigrationError extends Error {}
