import type { Client } from './client.ts';

/** Uploads a file and confirms the suggested mappings; returns the id of a job that can be executed. */
export async function mappedImport(client: Client, definitionName: string, file: Blob): Promise<string> {
  const form = (): FormData => {
    const form = new FormData();
    form.append('file', file, 'rows.csv');
    form.append('definitionName', definitionName);
    return form;
  };
  const { body: job } = await client.call('POST', '/imports', { form, expect: [201] });
  const { body: preview } = await client.call('POST', `/imports/${job.id}/preview`);
  const body = { mappings: preview.suggestions };
  await client.call('PUT', `/imports/${job.id}/mappings`, { body, expect: [204] });
  return job.id;
}
