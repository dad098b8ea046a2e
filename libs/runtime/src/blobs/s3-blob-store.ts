import type {
  ListMultipartUploadsCommandOutput,
  ListPartsCommandOutput,
  MultipartUpload,
  S3Client,
} from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Problem } from '@plinth/kernel/problem';
import { FairPlaces } from '../process/fair-places';
import { watchRate, type Arrival, type LeastRate } from '../process/least-rate';
import { blobIsGone, blobStoreIsDown, blobStoreRefuses, contentOf, measure, stepsOf } from './blob';
import type { BlobOrigin, BlobRange, BlobStore, StoredBlob } from './blob-store';
import { resumedReading, type OpenedPart } from './resumed-reading';

/** The smallest that S3 takes, for what clients send: 52 GB at most. */
const PART_BYTES = 5 * 1024 * 1024;
/** For what services make, which is as large as the room of its tenant: 84 GB at most. */
const PART_BYTES_OF_SERVICES = 8 * 1024 * 1024;
/** S3 takes no more of a file. */
const PARTS_OF_FILE_MAX = 10_000;
/** So many parts of a file are sent at the same time, while the next one arrives in memory. */
const PARTS_MAX = 2;
/** Each has three parts in memory, for as long as a slow client takes to send them. */
const UPLOADS_MAX = 9;
const UPLOAD_PATIENCE_MILLISECONDS = 60_000;
/** Of an upload whose place somebody waits for who could have it: half a megabit in a second. */
const LEAST_RATE: LeastRate = { bytes: 4 * 1024 * 1024, milliseconds: 60_000 };
const CONNECT_MILLISECONDS_MAX = 2_000;
/** Also where it is us who do not read on, which ends a reading that is then resumed. */
const SILENCE_MILLISECONDS_MAX = 30_000;
/**
 * Gateways limit the downloads of a service (`UPSTREAM_STREAMS_MAX` of each gateway), whose number nobody knows here. Each
 * holds a connection for as long as its client reads, and without a free one nobody stores or reads anything.
 */
const CONNECTIONS_MAX = Infinity;

interface S3Uploads {
  uploads?: FairPlaces;
  leastRate?: LeastRate;
  partsOfFileMax?: number;
}

/** Keeps files in a bucket of an S3 server. The client is loaded when it is first needed. */
export function s3BlobStore(
  url: URL,
  { uploads = uploadPlaces(), leastRate = LEAST_RATE, partsOfFileMax = PARTS_OF_FILE_MAX }: S3Uploads = {},
): BlobStore {
  const bucket = url.hostname;
  const prefix = url.pathname.split('/').filter((step) => step !== '');
  const at = (key: string) => ({ Bucket: bucket, Key: [...prefix, ...stepsOf(key)].join('/') });
  let connected: Promise<Connected> | undefined;
  /** Uploads that broke while the server was away, so that they could not be aborted. */
  const unfinished = new Map<string, string>();
  const connect = () => (connected ??= connectTo(url));
  /** Fails as a request did, and says to operators which permission it lacked. */
  const failedFor = (permission: string) => (error: unknown) => {
    throw isNamed(error, 'AccessDenied')
      ? blobStoreRefuses(new Error(`${describe(url)}: the credentials lack ${permission}.`, { cause: error }))
      : error;
  };

  const upload = async (
    owner: ShareOwner,
    key: string,
    content: Readable,
    { isSentByClient }: BlobOrigin,
  ): Promise<StoredBlob> => {
    const { client, Upload } = await connect();
    const partSize = isSentByClient ? PART_BYTES : PART_BYTES_OF_SERVICES;
    const { stream, bytesArrived, measured } = measure(partSize * partsOfFileMax);
    const sending = new Upload({
      client,
      params: { ...at(key), Body: stream },
      partSize,
      queueSize: PARTS_MAX,
    });
    let ofSource: unknown;
    const reading = pipeline(content, stream).catch((error: unknown) => {
      ofSource = error;
    });
    const arrival: Arrival = {
      bytesArrived,
      isHeld: () => stream.writableNeedDrain || stream.writableFinished,
      isWaitedFor: () => uploads.isWaitedFor(owner),
    };
    const endWatch = isSentByClient
      ? watchRate(leastRate, arrival, () => content.destroy(tooSlow()))
      : undefined;
    try {
      await sending.done();
    } catch (error) {
      stream.destroy();
      await reading;
      // An upload that fails aborts the stream that it reads.
      if (ofSource !== undefined && !isAbort(ofSource)) throw ofSource;
      if (sending.uploadId !== undefined) unfinished.set(sending.uploadId, at(key).Key);
      throw blobStoreIsDown(error);
    } finally {
      endWatch?.();
    }
    return measured();
  };

  const open = async (
    key: string,
    range: BlobRange,
    IfMatch?: string,
  ): Promise<OpenedPart & { tag: string | undefined }> => {
    const { client, commands } = await connect();
    const { Body, ContentLength, ETag } = await client.send(
      new commands.GetObjectCommand({ ...at(key), ...rangeOf(range), IfMatch }),
    );
    const body = Body as Readable;
    // Whoever reads it learns of its end from reading.
    body.on('error', () => undefined);
    return { body, length: ContentLength ?? Infinity, tag: ETag };
  };

  /** When the last part of an upload arrived, if any did. */
  const lastPartAt = async (
    { client, commands }: Connected,
    { Key, UploadId }: MultipartUpload,
  ): Promise<Date | undefined> => {
    let at: Date | undefined;
    let page: ListPartsCommandOutput | undefined;
    do {
      const PartNumberMarker = page?.NextPartNumberMarker;
      page = await client
        .send(new commands.ListPartsCommand({ Bucket: bucket, Key, UploadId, PartNumberMarker }))
        .catch(failedFor('s3:ListMultipartUploadParts'));
      for (const { LastModified } of page.Parts ?? [])
        if (LastModified && !(at && at > LastModified)) at = LastModified;
    } while (page.IsTruncated);
    return at;
  };

  /** An export may take longer than what was interrupted is kept. Returns whether the upload was aborted. */
  const abortUnlessContinued = async (
    connection: Connected,
    begun: MultipartUpload,
    before: Date,
  ): Promise<boolean> => {
    const at = await lastPartAt(connection, begun);
    if (at && at >= before) return false;
    const { client, commands } = connection;
    const { Key, UploadId } = begun;
    await client
      .send(new commands.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
      .catch(failedFor('s3:AbortMultipartUpload'));
    return true;
  };

  return {
    async put(key, content, origin = { isSentByClient: false }) {
      const owner = { tenantId: stepsOf(key)[0]!, userId: '' };
      try {
        return await uploads.run(owner, () => upload(owner, key, content, origin));
      } catch (error) {
        content.destroy();
        throw error;
      }
    },

    async get(key, range = {}) {
      if (range.end !== undefined && range.end < (range.start ?? 0)) return Readable.from([]);
      try {
        let part = await open(key, range);
        const { tag } = part;
        const openRest = async (from: number): Promise<OpenedPart> => {
          if (content.destroyed) throw new Error('Nobody reads on.');
          part = await open(key, { ...range, start: (range.start ?? 0) + from }, tag);
          return part;
        };
        const reading = Readable.from(resumedReading(part, openRest), { objectMode: false });
        const content = contentOf(reading);
        content.once('close', () => part.body.destroy());
        return content;
      } catch (error) {
        if (isNamed(error, 'InvalidRange')) return Readable.from([]);
        throw isNamed(error, 'NoSuchKey', 'NotFound', 'KeyTooLongError')
          ? blobIsGone()
          : blobStoreIsDown(error);
      }
    },

    async delete(key) {
      const { client, commands } = await connect();
      await client.send(new commands.DeleteObjectCommand(at(key))).catch((error: unknown) => {
        if (!isNamed(error, 'NoSuchKey', 'NotFound', 'KeyTooLongError')) throw blobStoreIsDown(error);
      });
    },

    async deleteInterrupted(before) {
      const connection = await connect();
      const { client, commands } = connection;
      try {
        let count = 0;
        let page: ListMultipartUploadsCommandOutput | undefined;
        do {
          const listed = new commands.ListMultipartUploadsCommand({
            Bucket: bucket,
            Prefix: prefix.map((step) => `${step}/`).join(''),
            KeyMarker: page?.NextKeyMarker,
            UploadIdMarker: page?.NextUploadIdMarker,
          });
          page = await client.send(listed).catch(failedFor('s3:ListBucketMultipartUploads'));
          for (const begun of page.Uploads ?? []) {
            if (begun.Initiated === undefined || begun.Initiated >= before) continue;
            // One that ended meanwhile, or that another process aborts, holds up no other.
            if (await abortUnlessContinued(connection, begun, before).catch(falseIfEnded)) count++;
          }
        } while (page.IsTruncated);
        return count;
      } catch (error) {
        throw error instanceof Problem ? error : blobStoreIsDown(error);
      }
    },

    async check() {
      const { client, commands } = await connect();
      await client.send(new commands.HeadBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
        throw blobStoreIsDown(new Error(`${describe(url)}: ${reasonOf(error)}`, { cause: error }));
      });
      for (const [UploadId, Key] of unfinished) {
        const command = new commands.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
        await client.send(command).catch((error: unknown) => {
          if (!isNamed(error, 'NoSuchUpload')) throw blobStoreIsDown(error);
        });
        unfinished.delete(UploadId);
      }
    },
  };
}

/** Says of an upload that is no longer there that it was not aborted here. */
const falseIfEnded = (error: unknown): false => {
  if (isNamed(error, 'NoSuchUpload')) return false;
  throw error;
};

const tooSlow = (): Problem =>
  new Problem('timed-out', 'The file comes too slowly while others wait to store theirs; try again.');

/** Places of uploads, of which a tenant alone has six. */
const uploadPlaces = (): FairPlaces =>
  new FairPlaces({
    places: UPLOADS_MAX,
    timesFree: 2,
    waitingMax: Infinity,
    patienceMilliseconds: UPLOAD_PATIENCE_MILLISECONDS,
    refused: () =>
      new Problem('overloaded', 'Too many files are being stored; try again.', { retryAfterSeconds: 10 }),
  });

type Connected = Awaited<ReturnType<typeof connectTo>>;

async function connectTo({ searchParams }: URL) {
  const [commands, { Upload }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
  ]);
  const endpoint = searchParams.get('endpoint');
  const client: S3Client = new commands.S3Client({
    region: regionOf(searchParams),
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MILLISECONDS_MAX,
      socketTimeout: SILENCE_MILLISECONDS_MAX,
      httpAgent: { maxSockets: CONNECTIONS_MAX },
      httpsAgent: { maxSockets: CONNECTIONS_MAX },
    },
  });
  return { client, commands, Upload };
}

const rangeOf = ({ start = 0, end }: BlobRange) =>
  start === 0 && end === undefined ? {} : { Range: `bytes=${start}-${end ?? ''}` };

/** Where a bucket is, for operators. */
const describe = ({ hostname, searchParams }: URL): string =>
  `The bucket ${hostname} at ${searchParams.get('endpoint') ?? 'Amazon S3'} in ${regionOf(searchParams)}`;

const regionOf = (parameters: URLSearchParams): string => parameters.get('region') ?? 'us-east-1';

const hints: Record<number, string> = {
  301: 'it is in another region',
  403: 'the credentials are refused, or may not use it',
  404: 'there is no such bucket',
};

/** What is wrong, for operators: a HEAD request has no body that would say it. */
function reasonOf(error: unknown): string {
  const { name, code, message, $metadata } = error as Error & {
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? 0;
  return hints[status] ?? [code ?? name, message].filter(Boolean).join(', ');
}

const isAbort = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ABORT_ERR';

const isNamed = (error: unknown, ...names: string[]): boolean =>
  error instanceof Error && names.includes(error.name);
