import { Agent, get } from 'node:http';
import { createMetrics, Health, serveAdmin } from './health';

describe('the admin port', () => {
  it('closes although a client repeats requests on one connection', async () => {
    const asked = Promise.withResolvers<void>();
    const health = new Health({ slow: () => new Promise(() => asked.resolve()) });
    const admin = await serveAdmin({ HTTP_HOST: '127.0.0.1', ADMIN_PORT: 0 }, health, createMetrics('test'));
    const agent = new Agent({ keepAlive: true });
    const cutOff = new Promise((resolve) =>
      get({ agent, port: admin.port, path: '/readyz' }).once('error', resolve),
    );
    await asked.promise;

    await admin.close();

    await expect(cutOff).resolves.toMatchObject({ code: 'ECONNRESET' });
    agent.destroy();
  });
});
