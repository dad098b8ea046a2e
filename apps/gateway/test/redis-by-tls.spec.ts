import { randomUUID } from 'node:crypto';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createAuthority, hasOpenssl, startTlsFront } from '@plinth/testing/tls';
import { startGatewayProcess } from './gateway-process';
import { post, startGuardedService } from './guarded-service';
import { closeAll, onCloseAll } from './start-gateway';

afterEach(closeAll);

(hasOpenssl ? it : it.skip)(
  'reaches Redis by TLS, where Node.js trusts its authority, and only there',
  async () => {
    const authority = createAuthority();
    onCloseAll(authority.remove);
    const { hostname: host, port } = new URL(infrastructure().redisUrl);
    const front = await startTlsFront({ host, port: Number(port) }, authority.issue('localhost'));
    onCloseAll(front.close);
    const things = (await startGuardedService()).url;
    const start = (environment: Record<string, string>) =>
      startGatewayProcess({ things }, { REDIS_URL: `rediss://localhost:${front.port}`, ...environment });

    const trusting = await start({ NODE_EXTRA_CA_CERTS: authority.caFile });
    const other = await start({});

    // A key for idempotency needs Redis.
    expect((await post(trusting, randomUUID())).status).toBe(201);
    expect((await post(other, randomUUID())).status).toBe(503);
  },
);
