export interface Figures {
  /** What was done, and how long each took. */
  what: string;
  milliseconds: readonly number[];
  undisturbed: number;
  kills: Readonly<Record<string, number>>;
}

/** How a campaign went, in a line. */
export function toldFigures({ what, milliseconds, undisturbed, kills }: Figures): string {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const seconds = (time: number): string => `${(time / 1_000).toFixed(1)} s`;
  const victims = Object.entries(kills).map(([name, count]) => `${name} ${count}`);
  return (
    `${sorted.length} ${what}: all as undisturbed. Undisturbed ${seconds(undisturbed)}; ` +
    `disturbed median ${seconds(sorted[Math.floor(sorted.length / 2)]!)}, longest ${seconds(sorted.at(-1)!)}. ` +
    `Killed: ${victims.join(', ')}.`
  );
}
