import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { newId } from '@plinth/kernel/uuid';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { startS3Server, type S3Server } from '@plinth/testing/s3-server';
import { filesOf } from './files';
import { startJourneyAlone, type LoneJourney } from './platform';

const s3 = findOrInstall('s3');

const companies = [
  'External id,Name,Kind,Active',
  'C-1,"Analytical, Engines",Customer,true',
  'C-2,Difference Ltd,Supplier,false',
  'C-3,Silly Walks,Ministry,true',
].join('\r\n');
const definitionName = 'Contacts.Companies';
const selectedFields = ['externalId', 'name', 'kind', 'isActive'];

(s3 === undefined ? describe.skip : describe)(
  'files in a bucket of an S3 server, through the platform',
  () => {
    let server: S3Server;
    let journey: LoneJourney;
    let files: ReturnType<typeof filesOf>;
    const tenantId = newId();
    beforeAll(async () => {
      server = await startS3Server(s3 ?? '');
      journey = await startJourneyAlone({ BLOB_URL: server.url });
      files = filesOf(journey, await journey.tokenOf({ tenantId }));
    }, 300_000);
    afterAll(async () => {
      await journey?.end();
      await server?.stop();
    }, 60_000);

    const keysInBucket = async (): Promise<string[]> => {
      const endpoint = new URL(server.url).searchParams.get('endpoint') ?? '';
      const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'plinth' }));
      return Contents.map(({ Key }) => Key ?? '');
    };

    it('are imported, and failed rows are returned in a correction file as they were written', async () => {
      const file = new File([companies], 'companies.csv');

      const { id, report } = await files.importFile(definitionName, file);

      expect(report).toMatchObject({ finalStatus: 'PartiallyCompleted', insertedRows: 2, failedRows: 1 });
      const correction = (await files.download(`/imports/${id}/correction-file`)).toString();
      expect(correction).toMatch(
        /^\uFEFF?External id,Name,Kind,Active,_Errors\r\nC-3,Silly Walks,Ministry,true,.+\r\n$/,
      );
      // The upload is deleted with the job.
      expect((await keysInBucket()).filter((key) => key.includes(tenantId))).toEqual([]);
    }, 120_000);

    it('are exported as CSV and as a workbook that can be imported again', async () => {
      const request = { definitionName, selectedFields, sort: 'externalId' };

      const text = await files.exportFile({ ...request, format: 'csv' });
      const workbook = await files.exportFile({ ...request, format: 'xlsx' });

      expect(
        text
          .toString()
          .replace(/^\uFEFF/, '')
          .trimEnd(),
      ).toBe(companies.split('\r\n').slice(0, 3).join('\r\n'));
      const { report } = await files.importFile(definitionName, new File([workbook], 'companies.xlsx'));
      expect(report).toMatchObject({ finalStatus: 'Completed', updatedRows: 2 });
      expect((await keysInBucket()).filter((key) => key.includes(`${tenantId}/exports/`))).toHaveLength(2);
    }, 120_000);

    it('are attached to timelines, read by others, and deleted with their entry', async () => {
      const note = new File(['Two of three parts have arrived.'], 'delivery.txt');
      const { id } = (await (await files.upload('/blobs', note)).json()) as { id: string };
      const entry = { entryType: 0, body: 'See the delivery.', attachmentBlobIds: [id] };
      const written = (await files.http('POST', '/timeline/Invoice/4711/entries', entry)).body;

      expect((await files.download(`/blobs/${id}`)).toString()).toBe(await note.text());
      expect((await keysInBucket()).filter((key) => key.includes(id))).toHaveLength(1);
      expect((await files.http('DELETE', `/timeline/Invoice/4711/entries/${written.id}`)).status).toBe(204);
      expect((await files.http('GET', `/blobs/${id}`)).status).toBe(404);
    }, 60_000);

    it('are downloaded from where a download was cut', async () => {
      const text = 'Two of three parts have arrived.';
      const { id } = (await (await files.upload('/blobs', new File([text], 'x.txt'))).json()) as {
        id: string;
      };
      const token = await journey.tokenOf({ tenantId });
      const get = (headers: Record<string, string>) =>
        fetch(`${journey.url}/api/v1/blobs/${id}`, {
          headers: { authorization: `Bearer ${token}`, ...headers },
        });
      const etag = (await get({})).headers.get('etag') ?? '';

      const rest = await get({ range: 'bytes=7-', 'if-range': etag });
      expect([rest.status, rest.headers.get('content-range'), await rest.text()]).toEqual([
        206,
        `bytes 7-${text.length - 1}/${text.length}`,
        text.slice(7),
      ]);
      expect((await get({ range: 'bytes=999-' })).status).toBe(416);
    }, 60_000);

    it('are refused with 502 while the S3 server is down, and everything else goes on', async () => {
      const request = { definitionName, selectedFields, sort: 'externalId', format: 'csv' };
      const { id: exported } = await files.exportJob(request);
      const { id: imported } = await files.mappedImport(
        definitionName,
        new File([companies], 'companies.csv'),
      );
      await server.crash();

      const refused = await Promise.all([
        files.upload('/blobs', new File(['x'], 'x.txt')),
        files.http('GET', `/exports/jobs/${exported}/download`),
        files.http('POST', `/imports/${imported}/dry-run`),
      ]);

      expect(refused.map(({ status }) => status)).toEqual([502, 502, 502]);
      expect(refused[0]!.headers.get('content-type')).toBe('application/problem+json');
      const entry = { entryType: 0, body: 'Without a file.' };
      expect((await files.http('POST', '/timeline/Invoice/4711/entries', entry)).status).toBe(201);
      expect((await files.http('GET', '/exports/jobs')).status).toBe(200);
      const ready = await fetch(`${journey.url}/readyz`);
      expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('"timeline":"up"')]);
    }, 120_000);
  },
);
