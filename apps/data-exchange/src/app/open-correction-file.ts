import { pipeline, Readable } from 'node:stream';
import { fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Problem } from '@plinth/kernel/problem';
import type { EventLoopTurns, FairPlaces } from '@plinth/runtime/process/fair-places';
import { eachInSteps, Localizer, type FailedRowWithCells } from '../domain/failed-row';
import type { MessageTexts } from '../domain/message-texts';
import { correctionFile, correctionWorkbook } from '../formats/correction-file';
import { encodeText } from '../formats/text-stream';
import type { FailedRowStore } from '../store/failed-row-store';
import type { ImportJob } from '../store/import-store';

/** A client that reads slowly holds some of them, and of their rows many times as much in memory. */
const PAGE = { bytesMax: 128 * 1024, withCells: true };
/** The messages of each page in the texts of a tenant. */
const PAGE_MESSAGES_LENGTH_MAX = 512 * 1024;
const FIRST_ROWS = 100;
const ROWS_PER_QUERY_MAX = 1_000;
/**
 * A client that takes no page for so long has left its place to others: what waits for a slow one in sockets on the way may
 * take minutes.
 */
const UNREAD_MILLISECONDS_MAX = 300_000;

export interface CorrectionFile {
  content: Readable;
  name: string;
  type: string;
}

/** Whose download it is. */
export interface CorrectionDownload {
  owner: ShareOwner;
  places: FairPlaces;
  turns: EventLoopTurns;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal;
  /** After which a client that takes nothing loses its place. */
  unreadMillisecondsMax?: number;
}

/**
 * Streams the failed rows of an import in the format of its upload; undefined where no row failed. It has a place until
 * the content is read or destroyed, and waits for one. Content that is not read for long is destroyed.
 * @throws Problem `share-used-up` or `overloaded` where there is none for long
 */
export async function openCorrectionFile(
  failedRows: FailedRowStore,
  job: ImportJob,
  texts: MessageTexts,
  { owner, places, turns, signal, unreadMillisecondsMax = UNREAD_MILLISECONDS_MAX }: CorrectionDownload,
): Promise<CorrectionFile | undefined> {
  const [first] = await failedRows.list(job.tenantId, job.id, { ...PAGE, after: 0, take: 1 });
  if (!first) return undefined;
  if (!places.tryEnter(owner)) await places.wait(owner, signal);
  const file = writeWhileRead(job, readPages());
  const unread = setTimeout(
    () => file.content.destroy(unreadFor(unreadMillisecondsMax)),
    unreadMillisecondsMax,
  );
  file.content.once('close', () => {
    clearTimeout(unread);
    places.leave(owner);
  });
  return file;

  async function* readPages(): AsyncGenerator<FailedRowWithCells[]> {
    for await (const page of pagesOf(failedRows, job)) {
      unread.refresh();
      const localizer = new Localizer(texts, PAGE_MESSAGES_LENGTH_MAX);
      yield await turns.takeEach(
        owner,
        eachInSteps(page, (row) => localizer.row(row)),
      );
    }
  }
}

const unreadFor = (milliseconds: number): Problem =>
  new Problem('timed-out', `Nothing of the correction file was read for ${milliseconds / 1_000} s.`);

function writeWhileRead(job: ImportJob, rows: AsyncIterable<FailedRowWithCells[]>): CorrectionFile {
  const { format } = job;
  const headers = job.headers ?? [];
  if (format.kind === 'xlsx') {
    return {
      content: Readable.from(correctionWorkbook(headers, rows), { objectMode: false }),
      name: fileNameOf(job, 'xlsx'),
      type: fileTypes.xlsx,
    };
  }
  const type = format.delimiter === '\t' ? 'tsv' : 'csv';
  // Read ahead, each of several pieces would be a page.
  const pieces = Readable.from(correctionFile(headers, format, rows), { highWaterMark: 1 });
  return {
    content: pipeline(pieces, encodeText(format), () => undefined),
    name: fileNameOf(job, type),
    type: fileTypes[type],
  };
}

async function* pagesOf(
  failedRows: FailedRowStore,
  { tenantId, id }: ImportJob,
): AsyncGenerator<FailedRowWithCells[]> {
  let after = 0;
  for (let take = FIRST_ROWS; ;) {
    const rows = await failedRows.list(tenantId, id, { ...PAGE, after, take });
    if (rows.length === 0) return;
    // Rows that do not fit are measured all the same, so few of them are asked for.
    take = Math.min(2 * rows.length, ROWS_PER_QUERY_MAX);
    yield rows;
    after = rows.at(-1)!.rowNumber;
  }
}

const fileNameOf = ({ originalFileName }: ImportJob, extension: string): string =>
  `${originalFileName.replace(/\.[^.]{1,5}$/, '')}_errors.${extension}`;
