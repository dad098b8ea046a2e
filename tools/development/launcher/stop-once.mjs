import { whenEnded } from './process-identity.mjs';

/**
 * Stops what a launcher runs at the first signal, or when the process that it was started for has ended, however that
 * ended: nobody else is left to do it.
 * @param {() => void} stop called once
 * @param {number} [parent] the pid of that process
 */
export function stopOnce(stop, parent) {
  let isStopping = false;
  const stopUnlessStopping = () => {
    if (!isStopping) stop();
    isStopping = true;
  };
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, stopUnlessStopping);
  }
  if (parent !== undefined) whenEnded(parent, stopUnlessStopping);
}
