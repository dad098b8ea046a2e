import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket, type SecureContextOptions } from 'node:tls';

/** Whether certificates can be made here. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) process.stderr.write('NOT TESTED: connections by TLS; openssl is not installed.\n');

/** Where a certificate and its key are, and what is in them. */
export interface Certificate {
  certificateFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

export interface Authority {
  /** In PEM, as the variables `*_CA` have it. */
  ca: string;
  caFile: string;
  /** Signs a certificate for this name. */
  issue(name: string): Certificate;
  remove(): void;
}

/** Makes an authority that nobody trusts but who is told to. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-tls-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const newKey = ['-newkey', 'rsa:2048', '-nodes', '-keyout'];
  openssl('req', '-x509', ...newKey, 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=of this test');
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  return {
    ca: read('ca.pem'),
    caFile: join(folder, 'ca.pem'),
    issue(name) {
      const [key, request, signed, extension] = ['key', 'csr', 'pem', 'ext'].map((end) => `${name}.${end}`);
      openssl('req', ...newKey, key!, '-out', request!, '-subj', `/CN=${name}`);
      writeFileSync(join(folder, extension!), `subjectAltName=DNS:${name}\n`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', extension!];
      openssl('x509', '-req', '-in', request!, '-out', signed!, '-days', '2', ...by);
      return {
        certificateFile: join(folder, signed!),
        keyFile: join(folder, key!),
        cert: read(signed!),
        key: read(key!),
      };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export interface TlsFront {
  port: number;
  close(): void;
}

/**
 * Offers a server that has no TLS by TLS, as proxies before servers do.
 * @param protocol that of Postgres asks for TLS in plain text first
 */
export async function startTlsFront(
  target: { host: string; port: number },
  options: SecureContextOptions & { requestCert?: boolean; ALPNProtocols?: string[] },
  protocol: 'postgres' | 'other' = 'other',
): Promise<TlsFront> {
  const secureContext = createSecureContext(options);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const offer = (client: Socket): void => {
    const secure = new TLSSocket(client, {
      ...options,
      secureContext,
      isServer: true,
      rejectUnauthorized: options.requestCert ?? false,
    });
    const server = connect(target);
    [secure, server].forEach(keep);
    secure.pipe(server).pipe(secure);
    secure.on('close', () => server.destroy());
    server.on('close', () => secure.destroy());
  };
  const front = createServer((client) => {
    keep(client);
    if (protocol === 'other') return offer(client);
    client.once('data', () => {
      client.write('S');
      offer(client);
    });
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    port: (front.address() as AddressInfo).port,
    close() {
      front.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}
