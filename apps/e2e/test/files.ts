import { eventually } from '@plinth/testing/eventually';
import type { Journey } from './platform';

/** Imports and exports of a client. */
export function filesOf({ url, call }: Journey, token: string) {
  const http = (method: string, path: string, body?: unknown) =>
    call(method, `/api/v1${path}`, { token, body });

  /** Sends a form with this file; returns the response. */
  const upload = async (path: string, file: File, fields: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...fields, file })) form.append(name, value);
    const headers = { authorization: `Bearer ${token}` };
    return fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: form });
  };

  /** Uploads a file and confirms the mappings that the platform suggests. */
  const mappedImport = async (definitionName: string, file: File): Promise<{ id: string }> => {
    const uploaded = await upload('/imports', file, { definitionName });
    expect(uploaded.status).toBe(201);
    const { id } = (await uploaded.json()) as { id: string };
    const { suggestions } = (await http('POST', `/imports/${id}/preview`)).body;
    expect((await http('PUT', `/imports/${id}/mappings`, { mappings: suggestions })).status).toBe(204);
    return { id };
  };

  /** Imports a file with the mappings that the platform suggests; returns the job and its report. */
  const importFile = async (definitionName: string, file: File) => {
    const { id } = await mappedImport(definitionName, file);
    expect((await http('POST', `/imports/${id}/execute`)).status).toBe(202);
    await eventually(async () => (await http('GET', `/imports/${id}`)).body.completedAt);
    return { id, report: (await http('GET', `/imports/${id}/report`)).body };
  };

  /** Exports; returns the job, which has ended. */
  const exportJob = async (request: object): Promise<{ id: string }> => {
    const { id } = (await http('POST', '/exports/jobs', { includeIdForImport: false, ...request })).body;
    await eventually(async () => (await http('GET', `/exports/jobs/${id}`)).body.completedAt);
    return { id };
  };

  /** Exports and downloads; returns the bytes of the file. */
  const exportFile = async (request: object): Promise<Buffer<ArrayBuffer>> => {
    const { id } = await exportJob(request);
    return download(`/exports/jobs/${id}/download`);
  };

  const download = async (path: string): Promise<Buffer<ArrayBuffer>> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  return { http, upload, mappedImport, importFile, exportJob, exportFile, download };
}
