import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { createTemporal } from '@plinth/runtime/temporal/temporal';
import { temporalConnection } from '@plinth/runtime/temporal/temporal-connection';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { infrastructure } from '@plinth/testing/infrastructure';
import { startNatsWithUsers } from '@plinth/testing/nats-with-users';
import { createTestDatabase } from '@plinth/testing/test-database';
import { createAuthority, hasOpenssl, startTlsFront, type Authority } from '@plinth/testing/tls';

const closers: Close[] = [];
const log = silentLog();
let authority: Authority;
let stranger: Authority;

(hasOpenssl ? describe : describe.skip)('connections by TLS, as production wants them', () => {
  beforeAll(() => {
    [authority, stranger] = [createAuthority(), createAuthority()];
  });
  afterEach(() => closeAll(closers.splice(0), log));
  afterAll(() => [authority, stranger].forEach(({ remove }) => remove()));

  it('reach NATS as a user, and no server of another authority', async () => {
    const { certificateFile, keyFile } = authority.issue('localhost');
    const server = await startNatsWithUsers('--tls', '--tlscert', certificateFile, '--tlskey', keyFile);
    closers.push(server.stop);
    const config = { ...server.configOf('settings'), NATS_CA: authority.ca };
    const NATS_URL = server.url.replace('nats://127.0.0.1', 'tls://localhost');

    const messaging = await connectedMessaging({ ...config, NATS_URL });
    closers.push(messaging.close);
    const { config: stream } = await (await jetstreamManager(messaging.connection)).streams.info('plinth');
    expect(stream.subjects).toEqual(['plinth.events.>']);

    const options = { servers: NATS_URL, user: config.NATS_USER!, pass: config.NATS_PASSWORD! };
    await expect(connect({ ...options, tls: { ca: stranger.ca } })).rejects.toThrow(/certificate/);
  });

  it('reach PostgreSQL, and no server of another name or authority', async () => {
    const database = await createTestDatabase('settings');
    closers.push(database.drop);
    const url = new URL(database.url);
    const open = async (issuer: Authority, name: string) => {
      const target = { host: url.hostname, port: Number(url.port) };
      const front = await startTlsFront(target, issuer.issue(name), 'postgres');
      closers.push(front.close);
      const secured = new URL(database.url);
      secured.host = `localhost:${front.port}`;
      secured.search = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(authority.caFile)}`;
      const pool = createPool(secured.href, log);
      closers.push(() => pool.end());
      return pool;
    };

    const { rows } = await (await open(authority, 'localhost')).query('SELECT 1 AS one');
    expect(rows).toEqual([{ one: 1 }]);
    await expect((await open(authority, 'elsewhere')).query('SELECT')).rejects.toThrow(/altnames/);
    await expect((await open(stranger, 'localhost')).query('SELECT')).rejects.toThrow(/certificate/);
  });

  it('reach Temporal with a certificate of the client, and not without', async () => {
    const [host, port] = infrastructure().temporalAddress.split(':');
    const options = {
      ...authority.issue('localhost'),
      ca: authority.ca,
      requestCert: true,
      ALPNProtocols: ['h2'],
    };
    const front = await startTlsFront({ host: host!, port: Number(port) }, options);
    closers.push(front.close);
    const { cert, key } = authority.issue('workflow');
    const config = {
      TEMPORAL_ADDRESS: `localhost:${front.port}`,
      TEMPORAL_NAMESPACE: 'default',
      TEMPORAL_TLS: true,
      TEMPORAL_CA: authority.ca,
    };

    const known = { ...config, TEMPORAL_CLIENT_CERTIFICATE: cert, TEMPORAL_CLIENT_KEY: key };
    const temporal = createTemporal(known);
    closers.push(temporal.close);
    await temporal.check();
    // Workers connect by other code.
    await (await NativeConnection.connect(temporalConnection(known))).close();

    const without = { ...temporalConnection(config), connectTimeout: 2_000 };
    await expect(Connection.connect(without)).rejects.toThrow();
  });
});
