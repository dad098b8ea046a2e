export interface CampaignResult {
  /** What was repeated, and how long each repetition took. */
  what: string;
  milliseconds: readonly number[];
  undisturbed: number;
  kills: Readonly<Record<string, number>>;
}

/** The result of a campaign, in a line. */
export function formatReport({ what, milliseconds, undisturbed, kills }: CampaignResult): string {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const seconds = (time: number): string => `${(time / 1_000).toFixed(1)} s`;
  const killed = Object.entries(kills).map(([name, count]) => `${name} ${count}`);
  return (
    `${sorted.length} ${what}: all with the result of an undisturbed one. Undisturbed ${seconds(undisturbed)}; ` +
    `with kills median ${seconds(sorted[Math.floor(sorted.length / 2)]!)}, longest ${seconds(sorted.at(-1)!)}. ` +
    `Killed: ${killed.join(', ')}.`
  );
}
