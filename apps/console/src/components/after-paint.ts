import { startTransition, useEffect, useState } from 'react';

/** A frame is on the screen some milliseconds after its callbacks; what is loaded before that competes with it. */
const PRESENTATION_MILLISECONDS = 50;

/** As long as the parts of a page take on a fast network: what only keeps it up to date does not compete with them. */
export const PARTS_MILLISECONDS = 700;

/**
 * Calls when what was rendered is on the screen, in a task of its own; the returned function prevents that.
 * @param milliseconds how much later
 */
export function afterPaint(call: () => void, milliseconds = 0): () => void {
  let task: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    task = setTimeout(call, PRESENTATION_MILLISECONDS + milliseconds);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(task);
  };
}

/**
 * Whether what was rendered first is on the screen; what comes then is rendered in pieces between which keys are answered.
 * @param milliseconds how much later
 */
export function useAfterPaint(milliseconds = 0): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => afterPaint(() => startTransition(() => setPainted(true)), milliseconds), [milliseconds]);
  return isPainted;
}
