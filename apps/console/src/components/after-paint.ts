/** Calls when what was rendered is painted, in a task of its own; the returned function prevents that. */
export function afterPaint(call: () => void): () => void {
  let task: ReturnType<typeof setTimeout> | undefined;
  // A frame is painted after its callbacks.
  const frame = requestAnimationFrame(() => {
    task = setTimeout(call);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(task);
  };
}
