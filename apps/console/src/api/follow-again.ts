const PAUSE_MILLISECONDS_MAX = 30_000;

/** One connection to a stream. */
interface Connection {
  signal: AbortSignal;
  /** The stream is open: when it ends it is opened again after the shortest pause. */
  onOpen(): void;
}

/**
 * Follows a stream until `follow` says that it is over: one that ended, or broke off, is opened again after a pause. Each that
 * does not open, since it is refused or the platform is away, makes the next pause twice as long. Returns what ends it.
 */
export function followAgain(
  pauseMilliseconds: number,
  follow: (connection: Connection) => Promise<'over' | 'ended'>,
): () => void {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = pauseMilliseconds;
  const onOpen = (): void => {
    pause = pauseMilliseconds;
  };
  const run = async (): Promise<void> => {
    const outcome = await follow({ signal: ending.signal, onOpen }).catch(() => 'failed');
    if (outcome === 'over' || ending.signal.aborted) return;
    timer = setTimeout(() => void run(), pause);
    pause = Math.min(2 * pause, PAUSE_MILLISECONDS_MAX);
  };
  void run();
  return () => {
    ending.abort(new DOMException('The page was left.', 'AbortError'));
    clearTimeout(timer);
  };
}
