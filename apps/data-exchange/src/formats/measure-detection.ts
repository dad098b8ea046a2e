import { Readable } from 'node:stream';
import { atOnce } from '@plinth/exchange/in-turns';
import { FormatDetector } from './detect-format';
import { pollutedFiles, scoreOf } from './polluted-files';
import { filledRows, readCsv } from './read-csv';

export interface DetectionMeasure {
  fileCount: number;
  /** The mean of the files: 10 is a file that is read as it should be. */
  simple: number;
  /** The mean of the files, each as often as the survey found files of its kind. */
  weighted: number;
  /** What files of each kind lose together of the weighted mean; the most first. */
  losses: { kind: string; loss: number }[];
}

/** How well polluted files are read by detection alone, without anything said about them; only some rows if told so. */
export async function measureDetection({ everyRow = 1 } = {}): Promise<DetectionMeasure> {
  const files = pollutedFiles().filter(({ row }) => row === undefined || row % everyRow === 0);
  let simple = 0;
  let weighted = 0;
  const weights = files.reduce((sum, { weight }) => sum + weight, 0);
  const lossByKind = new Map<string, number>();
  for (const { kind, weight, text, clean } of files) {
    const score = scoreOf(clean, text === '' ? [] : await load(text));
    simple += score;
    weighted += score * weight;
    lossByKind.set(kind, (lossByKind.get(kind) ?? 0) + ((10 - score) * weight) / weights);
  }
  return {
    fileCount: files.length,
    simple: simple / files.length,
    weighted: weighted / weights,
    losses: [...lossByKind]
      .map(([kind, loss]) => ({ kind, loss }))
      .sort((left, right) => right.loss - left.loss),
  };
}

/** The table as an import reads it; columns without a name in the file have none here. */
async function load(text: string): Promise<string[][] | undefined> {
  const detector = new FormatDetector();
  detector.push(Buffer.from(text));
  const detection = atOnce(detector.end());
  if (detection.found !== 'text') return undefined;
  const { format } = detection;
  const { headers, rows } = await readCsv(Readable.from([Buffer.from(text)]), format);
  const loaded = format.headerRow === 0 ? [] : [headers.map((name) => name.replace(/^Column \d+$/, ''))];
  for await (const piece of filledRows(rows)) loaded.push(...piece.map(({ cells }) => cells));
  return loaded;
}
