import { loadModule } from '../../development/build/load-module.ts';
import type { BenchLine } from './bench-line.ts';
import { seconds, timeOf } from './times.ts';

interface DetectionModule {
  measureDetection(): Promise<{
    fileCount: number;
    simple: number;
    weighted: number;
    losses: { kind: string; loss: number }[];
  }>;
}

/** How well polluted files are read without anything said about them; see docs/measurements/detection.md. */
export async function benchDetection(): Promise<BenchLine[]> {
  const { measureDetection } = await loadModule<DetectionModule>(
    'apps/data-exchange/src/formats/measure-detection.ts',
  );
  let measured: Awaited<ReturnType<typeof measureDetection>> | undefined;
  const taken = await timeOf(async () => {
    measured = await measureDetection();
  });
  const { fileCount, simple, weighted, losses } = measured!;
  return [
    {
      job: `${fileCount.toLocaleString('en')} polluted files`,
      measured: `${simple.toFixed(3)} simple, ${weighted.toFixed(3)} weighted, of 10; in ${seconds(taken)}`,
      details: losses.slice(0, 8).map(({ kind, loss }) => `${kind}: ${loss.toFixed(4)} lost`),
    },
  ];
}
