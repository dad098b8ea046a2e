import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../demo/client';

const POLL_MILLISECONDS = 50;

/** Uploads a file and confirms the suggested mappings; answers the id of a job that can be executed. */
export async function mapped(client: Client, definitionName: string, content: string): Promise<string> {
  const form = (): FormData => {
    const form = new FormData();
    form.append('file', new Blob([content], { type: 'text/csv' }), 'faults.csv');
    form.append('definitionName', definitionName);
    return form;
  };
  const { body: job } = await client.call('POST', '/imports', { form, expect: [201] });
  const { body: preview } = await client.call('POST', `/imports/${job.id}/preview`);
  await client.call('PUT', `/imports/${job.id}/mappings`, {
    body: { mappings: preview.suggestions },
    expect: [204],
  });
  return job.id;
}

/** Waits for the end of what is worked on in the background, and answers what it says then. */
export async function ended(client: Client, path: string) {
  for (;;) {
    const { body } = await client.call('GET', path);
    if (body.completedAt !== null) return body;
    await pause(POLL_MILLISECONDS);
  }
}
