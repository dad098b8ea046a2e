/** How slowly something may arrive. */
export interface LeastRate {
  /** In each stretch of time. */
  bytes: number;
  milliseconds: number;
}

const LOOKS = 6;

export interface Arrival {
  /** How many bytes have arrived. */
  bytesArrived(): number;
  /** Whether it is held back, so that its client can send nothing. */
  isHeld(): boolean;
  /** Whether it may not be slow now. Without it, it never may. */
  isWaitedFor?(): boolean;
}

/**
 * Looks whether something arrives as fast as it has to: a byte now and then would keep for ever what it takes. What it
 * sent quickly before counts for nothing, so that its whole time is bounded by its length.
 * @param giveUp is called once, where it was too slow
 * @returns ends the looking
 */
export function watchRate(
  { bytes, milliseconds }: LeastRate,
  { bytesArrived, isHeld, isWaitedFor = () => true }: Arrival,
  giveUp: () => void,
): () => void {
  /** What had arrived at each look of the stretch before now. */
  let before = [bytesArrived()];
  const look = () => {
    if (isHeld()) before = [];
    before.push(bytesArrived());
    if (before.length <= LOOKS) return;
    const isSlow = before.at(-1)! - before.shift()! < bytes;
    if (!isSlow || !isWaitedFor()) return;
    end();
    giveUp();
  };
  const looking = setInterval(look, milliseconds / LOOKS);
  looking.unref();
  const end = () => clearInterval(looking);
  return end;
}
