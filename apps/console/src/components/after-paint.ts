import { startTransition, useEffect, useState } from 'react';

/** A frame is on the screen some milliseconds after its callbacks; what is loaded before that competes with it. */
const PRESENTATION_MILLISECONDS = 50;

/** Calls when what was rendered is on the screen, in a task of its own; the returned function prevents that. */
export function afterPaint(call: () => void): () => void {
  let task: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    task = setTimeout(call, PRESENTATION_MILLISECONDS);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(task);
  };
}

/** Whether what was rendered first is on the screen; what comes then is rendered in pieces between which keys are answered. */
export function useAfterPaint(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => afterPaint(() => startTransition(() => setPainted(true))), []);
  return isPainted;
}
