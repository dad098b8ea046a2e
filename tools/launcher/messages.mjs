/**
 * What a detached launcher tells the command that started it, until it is ready.
 * @typedef {{ line?: string, ready?: boolean, failed?: boolean }} Message
 */

/** @param {Message} message */
export function tell(message) {
  if (process.connected) process.send?.(message);
}
