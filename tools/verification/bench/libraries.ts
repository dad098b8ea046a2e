import { parse } from 'csv-parse/sync';
import exceljs from 'exceljs';
import { Redis } from 'ioredis';
import papaparse from 'papaparse';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { loadModule } from '../../development/build/load-module.ts';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import { median, timeOf } from './times.ts';

/** What is measured of the services, as far as it is called here. */
interface CsvModule {
  CsvReader: new (options: { delimiter: string }) => { push(chunk: string): unknown; end(): unknown };
}
interface WorkbookModule {
  workbookOf(tables: { name: string; rows: object[][] }[]): Promise<Uint8Array>;
}
interface LimiterModule {
  RateLimiter: new (redis: Redis) => {
    consume(quotas: { key: string; scope: 'user' | 'tenant'; limit: number }[]): Promise<unknown>;
  };
}

const ROUNDS = 5;

/** What we wrote ourselves beside the libraries that do the same: processor time, measured in turns. */
export async function benchLibraries(target: Pick<BenchTarget, 'redisUrl'>): Promise<BenchLine[]> {
  return [await csvLine(), await workbookLine(), ...(await limiterLines(target.redisUrl))];
}

async function csvLine(): Promise<BenchLine> {
  const { CsvReader } = await loadModule<CsvModule>('apps/data-exchange/src/formats/csv-reader.ts');
  const row = (index: number): string =>
    `${index},"Name, ${index}",${index * 3.5},2026-11-22,Some words of text,"He said ""yes""",,true\n`;
  const text = Array.from({ length: 100_000 }, (_, index) => row(index)).join('');
  return processorTimes('100,000 records of CSV', {
    ours: () => {
      const reader = new CsvReader({ delimiter: ',' });
      for (let from = 0; from < text.length; from += 65_536) reader.push(text.slice(from, from + 65_536));
      reader.end();
    },
    'csv-parse': () => parse(text),
    papaparse: () => papaparse.parse(text),
  });
}

async function workbookLine(): Promise<BenchLine> {
  const { workbookOf } = await loadModule<WorkbookModule>('apps/template/src/render/sandbox/workbook.ts');
  const cell = (row: number, column: number) => ({
    text: column % 2 === 0 ? `Text ${row} ${column}` : String(row * column),
    type: column % 2 === 0 ? undefined : 'number',
    value: undefined,
    format: column === 3 ? '0.00' : undefined,
    isHeader: row === 0,
    columns: 1,
    rows: 1,
    align: undefined,
  });
  const rows = Array.from({ length: 20_000 }, (_, row) =>
    Array.from({ length: 10 }, (__, column) => cell(row, column)),
  );
  return processorTimes('a workbook of 200,000 cells', {
    ours: () => workbookOf([{ name: 'Table', rows }]),
    exceljs: () => {
      const stream = new PassThrough();
      const book = new exceljs.stream.xlsx.WorkbookWriter({ stream, useStyles: true });
      const sheet = book.addWorksheet('Table');
      for (const cells of rows)
        sheet.addRow(cells.map(({ text, type }) => (type === undefined ? text : Number(text)))).commit();
      sheet.commit();
      return Promise.all([buffer(stream), book.commit()]);
    },
  });
}

async function limiterLines(redisUrl: string): Promise<BenchLine[]> {
  const { RateLimiter } = await loadModule<LimiterModule>('apps/gateway/src/limits/rate-limiter.ts');
  const redis = new Redis(redisUrl);
  const ours = new RateLimiter(redis);
  const theirs = (['user', 'tenant'] as const).map(
    (scope) =>
      new RateLimiterRedis({ storeClient: redis, keyPrefix: `bench-${scope}`, points: 1e9, duration: 60 }),
  );
  const consume = {
    ours: (user: number) =>
      ours.consume([
        { key: `bench:user:${user}`, scope: 'user', limit: 1e9 },
        { key: 'bench:tenant', scope: 'tenant', limit: 1e9 },
      ]),
    'rate-limiter-flexible': (user: number) =>
      Promise.all([theirs[0]!.consume(String(user)), theirs[1]!.consume('tenant')]),
  };
  const rounds = (one: (user: number) => Promise<unknown>, together: number) => async () => {
    for (let done = 0; done < 5_000; done += together)
      await Promise.all(Array.from({ length: together }, (_, user) => one(user % 20)));
  };
  try {
    const lines = [];
    for (const together of [1, 64]) {
      lines.push(
        await processorTimes(`5,000 requests counted twice, ${together} at a time`, {
          ours: rounds(consume.ours, together),
          'rate-limiter-flexible': rounds(consume['rate-limiter-flexible'], together),
        }),
      );
    }
    return lines;
  } finally {
    await redis.quit();
  }
}

/** The medians of the processor time of this process; `ours` is the first one. */
async function processorTimes(job: string, works: Record<string, () => unknown>): Promise<BenchLine> {
  const times = new Map(
    Object.keys(works).map((name) => [name, { processor: [] as number[], clock: [] as number[] }]),
  );
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, work] of Object.entries(works)) {
      const before = process.cpuUsage();
      const clock = await timeOf(async () => work());
      const { user, system } = process.cpuUsage(before);
      // The first round compiles.
      if (round > 0) {
        times.get(name)!.processor.push((user + system) / 1_000);
        times.get(name)!.clock.push(clock);
      }
    }
  }
  const shown = [...times].map(([name, { processor, clock }]) => ({
    name,
    milliseconds: median(processor),
    text: `${name} ${median(processor).toFixed(0)} ms (${median(clock).toFixed(0)} ms of time)`,
  }));
  const [ours, ...others] = shown;
  return {
    job,
    measured: ours!.text,
    reference: others.map(({ text }) => text).join(', '),
    ratio: ours!.milliseconds / Math.min(...others.map(({ milliseconds }) => milliseconds)),
    goal: 1,
  };
}
