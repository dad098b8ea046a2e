import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
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
        if (ofSource !== undefined) throw ofSource;
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
        const { Uploads = [] } = await client.send(
          new commands.ListMultipartUploadsCommand({
            Bucket: bucket,
            Prefix: prefix.map((step) => `${step}/`).join(''),
          }),
        );
        const interrupted = Uploads.filter(({ Initiated }) => Initiated !== undefined && Initiated < before);
        for (const { Key, UploadId } of interrupted)
          await client.send(new commands.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
        return interrupted.length;
      } catch (error) {
        throw blobStoreIsDown(error);
      }
    },

    async check() {
      const { client, commands } = await connect();
      await client.send(new commands.HeadBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
        throw blobStoreIsDown(error);
      });
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
    region: searchParams.get('region') ?? 'us-east-1',
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

const bodyOf = ({ Body }: GetObjectCommandOutput): Readable => Body as Readable;

const isNamed = (error: unknown, ...names: string[]): boolean =>
  error instanceof Error && names.includes(error.name);
