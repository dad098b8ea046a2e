import type { GetObjectCommandOutput, ListMultipartUploadsCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { blobIsGone, blobStoreIsDown, measure, stepsOf } from './blob';
import type { BlobRange, BlobStore } from './blob-store';

const PART_BYTES = 8 * 1024 * 1024;
/** So many parts are in memory at the same time. */
const PARTS_MAX = 2;
const CONNECT_MILLISECONDS_MAX = 2_000;
const SILENCE_MILLISECONDS_MAX = 30_000;

/** Keeps files in a bucket of an S3 server. The client is loaded when it is first needed. */
export function s3BlobStore(url: URL): BlobStore {
  const bucket = url.hostname;
  const prefix = url.pathname.split('/').filter((step) => step !== '');
  const at = (key: string) => ({ Bucket: bucket, Key: [...prefix, ...stepsOf(key)].join('/') });
  let connected: Promise<Connected> | undefined;
  /** Uploads that broke while the server was away, so that they could not be aborted. */
  const unfinished = new Map<string, string>();
  const connect = () => (connected ??= connectTo(url));

  return {
    async put(key, content) {
      const { client, Upload } = await connect();
      const { stream, measured } = measure();
      const upload = new Upload({
        client,
        params: { ...at(key), Body: stream },
        partSize: PART_BYTES,
        queueSize: PARTS_MAX,
      });
      let ofSource: unknown;
      const reading = pipeline(content, stream).catch((error: unknown) => {
        ofSource = error;
      });
      try {
        await upload.done();
      } catch (error) {
        // An upload that fails aborts the stream that it reads.
        if (ofSource !== undefined && !isAbort(ofSource)) throw ofSource;
        if (upload.uploadId !== undefined) unfinished.set(upload.uploadId, at(key).Key);
        stream.destroy();
        await reading;
        throw blobStoreIsDown(error);
      }
      return measured();
    },

    async get(key, range = {}) {
      if (range.end !== undefined && range.end < (range.start ?? 0)) return Readable.from([]);
      const { client, commands } = await connect();
      const command = new commands.GetObjectCommand({ ...at(key), ...rangeOf(range) });
      try {
        return bodyOf(await client.send(command));
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
      const { client, commands } = await connect();
      try {
        let count = 0;
        let page: ListMultipartUploadsCommandOutput | undefined;
        do {
          page = await client.send(
            new commands.ListMultipartUploadsCommand({
              Bucket: bucket,
              Prefix: prefix.map((step) => `${step}/`).join(''),
              KeyMarker: page?.NextKeyMarker,
              UploadIdMarker: page?.NextUploadIdMarker,
            }),
          );
          for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
            if (Initiated === undefined || Initiated >= before) continue;
            await client.send(new commands.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
            count++;
          }
        } while (page.IsTruncated);
        return count;
      } catch (error) {
        throw blobStoreIsDown(error);
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
    },
  });
  return { client, commands, Upload };
}

const rangeOf = ({ start = 0, end }: BlobRange) =>
  start === 0 && end === undefined ? {} : { Range: `bytes=${start}-${end ?? ''}` };

/** The bytes of a file. A connection that breaks in the middle of them is one to the store, not to any other server. */
const bodyOf = ({ Body }: GetObjectCommandOutput): Readable =>
  Readable.from(readBody(Body as Readable), { objectMode: false });

async function* readBody(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    throw blobStoreIsDown(error);
  }
}

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
