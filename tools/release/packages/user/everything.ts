import { ApiProblem } from '@plinth/sdk/api-problem';
import { createClient, createPlatformClient, type ClientOptions } from '@plinth/sdk/client';
import { settingsEndpoints } from '@plinth/sdk/contracts/settings/endpoints';
import { everyItem } from '@plinth/sdk/every-item';
import { exportJob, importJob } from '@plinth/sdk/jobs';

/** Uses the package as an application does, in Node and in a browser; returns the results. */
export async function doEverything(options: ClientOptions) {
  return {
    problem: await askForNothing(options),
    entries: await writeAndWalk({ ...options, fetch: losingFirstAnswers() }),
    exchange: await importAndExport(options),
  };
}

async function askForNothing(options: ClientOptions) {
  const settings = createClient(settingsEndpoints, options);
  try {
    await settings.getSetting({ params: { scope: 'user', name: 'Nothing.Of.This' } });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const { status, slug, problem } = error;
    return { status, slug, instance: problem.instance };
  }
}

/** A network that loses the first response to every write, after the platform has executed it. */
function losingFirstAnswers(): typeof fetch {
  const lost = new Set<string>();
  return async (address, init) => {
    const response = await fetch(address, init);
    const key = new Headers(init?.headers).get('idempotency-key');
    if (key === null || lost.has(key)) return response;
    lost.add(key);
    throw new TypeError('The network is gone.');
  };
}

async function writeAndWalk(options: ClientOptions) {
  const { timeline } = createPlatformClient(options);
  const params = { entityType: 'Invoice', entityId: crypto.randomUUID() };
  const isReplay: boolean[] = [];
  for (const body of ['one', 'two', 'three', 'four', 'five']) {
    isReplay.push((await timeline.postTimelineEntry({ params, body: { entryType: 0, body } })).isReplay);
  }
  const bodies: string[] = [];
  const walk = everyItem(timeline.getTimeline, { params, list: { pageSize: 2 } });
  for await (const { body } of walk) bodies.push(body);
  return { isReplay, bodies };
}

const COMPANIES = `External id,Name,Kind,Active
A,Analytical Engines,Customer,true
B,Difference Ltd,Supplier,false
C,Silly Walks,Ministry,true
`;

async function importAndExport(options: ClientOptions) {
  const { dataExchange } = createPlatformClient(options);
  const file = new File([COMPANIES], 'companies.csv');
  const fields = { definitionName: 'Contacts.Companies' };
  const { body: upload } = await dataExchange.uploadImport({ file, fields });
  const params = { jobId: upload.id };
  const { body: preview } = await dataExchange.previewImport({ params });
  await dataExchange.confirmImportMappings({ params, body: { mappings: preview.suggestions } });
  await dataExchange.executeImport({ params });
  const seen: string[] = [];
  const onProgress = ({
    status,
    rowsDone,
    rowsFailed,
  }: {
    status: string;
    rowsDone: number;
    rowsFailed: number;
  }) => void seen.push(`${status} ${rowsDone} ${rowsFailed}`);
  const { status } = await importJob(dataExchange, upload.id).wait({ onProgress });
  const { body: correction } = await dataExchange.downloadCorrectionFile({ params });

  const { body: queued } = await dataExchange.createExportJob({
    body: {
      definitionName: 'Contacts.Companies',
      format: 'csv',
      selectedFields: ['externalId', 'name'],
      includeIdForImport: false,
      sort: 'externalId',
    },
  });
  const exported = await exportJob(dataExchange, queued.id).wait();
  const { body: download } = await dataExchange.downloadExport({ params: { jobId: queued.id } });
  return {
    status,
    last: seen.at(-1),
    refused: (await correction?.text())?.includes('Silly Walks'),
    rows: exported.rowCount,
    fileName: download.fileName,
    text: await download.text(),
  };
}
