import { bundledProgram } from '@plinth/testing/bundled-program';
import type { TestClient } from '@plinth/testing/http';
import { startReplica } from '@plinth/testing/start-replica';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { TemplateConfig } from '../src/config';
import { startServiceStubs } from './service-stubs';

const parts = { name: 'template', schema: TemplateConfig, compose, createApp };

/** Starts the service on real stores, with stubs of the services that it calls; close it when done. */
/** @param pdfRenderer its address; without one there is none */
export async function startTemplates(environment: Record<string, string> = {}, pdfRenderer = 'localhost:1') {
  const stubs = await startServiceStubs();
  const options = {
    environment: {
      GRPC_SERVICES: `settings=${stubs.address},localization=${stubs.address},pdf-renderer=${pdfRenderer}`,
      RENDER_SANDBOX_PROGRAM: bundledProgram('apps/template/src/sandbox.ts'),
      RENDER_PROCESSES: '2',
      // A bound for what hangs: on a busy machine a rendering takes longer than a service has patience.
      RENDER_MILLISECONDS_MAX: '20000',
      ...environment,
    },
  };
  return { ...(await startReplica(parts, options, [stubs.close])), stubs };
}

export type Templates = Awaited<ReturnType<typeof startTemplates>>;

/** Saves a template and returns its detail. */
export async function saved(
  http: TestClient,
  template: { name: string; content?: string; [more: string]: unknown },
) {
  const { status, body } = await http.post('/templates', { content: '<p>Hello</p>', ...template });
  if (status !== 201) throw new Error(`Not saved: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Saves a template and publishes it. */
export async function published(http: TestClient, template: Parameters<typeof saved>[1]) {
  const detail = await saved(http, template);
  const culture = template['culture'] ? `?culture=${String(template['culture'])}` : '';
  const { status, body } = await http.post(
    `/templates/${encodeURIComponent(template.name)}/publish${culture}`,
  );
  if (status !== 204) throw new Error(`Not published: ${status} ${JSON.stringify(body)}`);
  return detail;
}
