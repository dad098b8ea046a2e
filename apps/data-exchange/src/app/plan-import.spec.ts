import { Readable } from 'node:stream';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { aRawWorkbook, sheetOf, stringsOf } from '../../test/a-zip';
import { planImport, type PlanDependencies } from './plan-import';

const planOf = (workbook: Buffer) => {
  const job = {
    status: 'Executing',
    format: { kind: 'xlsx', sheets: ['First'] },
    options: {},
    blobKey: 'a.xlsx',
    fileSizeBytes: workbook.length,
  };
  const blobs: Pick<BlobStore, 'get'> = {
    get: async (_key: string, { start, end }: { start: number; end: number }) =>
      Readable.from([workbook.subarray(start, end + 1)]),
  } as never;
  const dependencies = {
    imports: { get: async () => job },
    owners: { find: async () => ({}) },
    ranges: { insert: async () => 1 },
    blobs,
    config: { EXCHANGE_RANGE_BYTES: 4 * 1024 ** 2 },
  } as unknown as PlanDependencies;
  return planImport(dependencies, 'acme', 'job');
};

const rows = (count: number): string => '<row><c t="inlineStr"><is><t>A</t></is></c></row>'.repeat(count);

describe('the plan of a workbook', () => {
  it.each([
    ['short', {}, true],
    ['long for what its sheet unpacks to', { 'xl/worksheets/sheet1.xml': sheetOf(rows(100_000)) }, false],
    [
      'long for what its texts unpack to',
      { 'xl/sharedStrings.xml': stringsOf(`<si><t>${'x'.repeat(5_000_000)}</t></si>`) },
      false,
    ],
  ])('is %s', async (_what, parts, isSmall) => {
    const workbook = aRawWorkbook(parts);
    expect(workbook.length).toBeLessThan(400 * 1024);

    expect(await planOf(workbook)).toEqual({ kind: 'whole', isSmall });
  });
});
