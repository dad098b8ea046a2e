import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SilentProxy {
  port: number;
  /**
   * Loses every connection as the loss of a machine does: nothing comes through any more, and nobody is told. Those that
   * are opened from now on reach the server.
   */
  lose(): void;
  close(): void;
}

/**
 * A proxy of a server on this machine, whose connections can be lost without a word.
 * @param port where it listens; 0 for a free one
 */
export async function startSilentProxy(serverPort: number, port = 0): Promise<SilentProxy> {
  const clients = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: serverPort, host: '127.0.0.1', noDelay: true });
    clients.add(client);
    client.on('data', (bytes) => void (lost.has(client) || server.write(bytes)));
    server.on('data', (bytes) => void (lost.has(client) || client.write(bytes)));
    client.on('error', () => undefined).on('close', () => server.destroy());
    server.on('error', () => undefined).on('close', () => void (lost.has(client) || client.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    lose: () => clients.forEach((client) => lost.add(client)),
    close: () => {
      proxy.close();
      clients.forEach((client) => client.destroy());
    },
  };
}
