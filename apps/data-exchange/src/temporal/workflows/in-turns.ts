/** Runs steps 0 to count - 1, so many at once and in their order; no further one begins after one that answers false. */
export async function inTurns(
  count: number,
  atOnce: number,
  run: (step: number) => Promise<boolean>,
): Promise<boolean> {
  let next = 0;
  let goesOn = true;
  const takeTurns = async (): Promise<void> => {
    while (goesOn && next < count) {
      try {
        if (!(await run(next++))) goesOn = false;
      } catch (error) {
        goesOn = false;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, takeTurns));
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  return goesOn;
}
