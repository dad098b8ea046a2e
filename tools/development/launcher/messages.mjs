/**
 * What a detached launcher sends to the command that started it, until it is ready.
 * @typedef {{ line?: string, ready?: boolean, failed?: boolean }} Message
 */

/** @param {Message} message */
export function sendToStarter(message) {
  if (process.connected) process.send?.(message);
}
