import { newId } from '@plinth/kernel/uuid';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { serveForTest, TEST_KEYS, type TestClient } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase } from '@plinth/testing/test-database';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { TemplateConfig } from '../src/config';
import { sandboxProgram } from './sandbox-program';
import { startSiblings } from './siblings';

/** Starts the service on real stores, with siblings that answer what a test tells them; close it when done. */
export async function startTemplates(environment: Record<string, string> = {}) {
  const closers: Close[] = [];
  const database = await createTestDatabase('template');
  closers.push(database.drop);
  const siblings = await startSiblings();
  closers.push(siblings.close);
  const config = TemplateConfig.parse({
    NODE_ENV: 'test',
    DATABASE_URL_TEMPLATE: database.url,
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `test_${newId().replaceAll('-', '')}`,
    CALLER_KEYS: TEST_KEYS.join(','),
    CURSOR_KEYS: TEST_KEYS.join(','),
    GRPC_SERVICES: `settings=${siblings.address},localization=${siblings.address}`,
    RENDER_SANDBOX_PROGRAM: sandboxProgram(),
    RENDER_PROCESSES: '2',
    ...environment,
  });
  const deps = await compose(config, silentLog(), (close) => closers.push(close));
  const server = await serveForTest(createApp(deps));
  closers.push(server.close);
  return {
    ...deps,
    as: server.as,
    url: server.url,
    database,
    siblings,
    close: () => closeAll(closers, silentLog()),
  };
}

export type Templates = Awaited<ReturnType<typeof startTemplates>>;

/** Saves a template and answers its detail. */
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
