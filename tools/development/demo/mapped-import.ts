import type { Client } from './client.ts';

/** Uploads a file and confirms the suggested mappings; returns the id of a job that can be executed. */
export async function mappedImport(
  client: Client,
  definitionName: string,
  file: Blob,
  fileName = 'rows.csv',
): Promise<string> {
  const id = await uploadedImport(client, definitionName, file, fileName);
  const { body: preview } = await client.call('POST', `/imports/${id}/preview`);
  const body = { mappings: preview.suggestions };
  await client.call('PUT', `/imports/${id}/mappings`, { body, expect: [204] });
  return id;
}

/** Uploads a file; returns the id of a job whose columns are to be confirmed. */
export async function uploadedImport(
  client: Client,
  definitionName: string,
  file: Blob,
  fileName: string,
): Promise<string> {
  const form = (): FormData => {
    const form = new FormData();
    form.append('file', file, fileName);
    form.append('definitionName', definitionName);
    return form;
  };
  const { body: job } = await client.call('POST', '/imports', { form, expect: [201] });
  return job.id;
}
