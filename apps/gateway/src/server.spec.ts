import { EventEmitter, once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createPublicServer, limitConnections } from './server';

describe('the connections of one address', () => {
  const server = new EventEmitter();
  limitConnections(server as unknown as Server, 2);
  const connect = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: jest.fn() });
    server.emit('connection', socket as unknown as Socket);
    return socket;
  };

  it('are those of a whole network of IPv6, which one customer owns', () => {
    const [first, second, third] = ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:3'].map(connect);
    const other = connect('2001:db8:0:1::1');
    expect([first, second, third, other].map((socket) => socket!.destroy.mock.calls.length)).toEqual([
      0, 0, 1, 0,
    ]);
    third!.emit('close');
    first!.emit('close');
    expect(connect('2001:db8::4').destroy).not.toHaveBeenCalled();
  });
});

const settings = {
  headersMilliseconds: 10_000,
  idleMilliseconds: 10_000,
  keepAlive: { keepAliveTimeout: 10_000 },
  connectionsMax: 10,
  connectionsPerAddressMax: 10,
  publicUrl: 'http://plinth.example',
  reporting: [],
};

describe('the requests of one connection', () => {
  const requests = (count: number): string => 'GET / HTTP/1.1\r\nHost: plinth.example\r\n\r\n'.repeat(count);

  it('are at most 16 without a response, and those behind them cost no more than their parsing', async () => {
    const waiting: ServerResponse[] = [];
    const server = createPublicServer((_request, response) => void waiting.push(response), settings);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1');
    try {
      const greedy = open();
      greedy.on('error', () => undefined).write(requests(1_000));
      await once(greedy, 'close');
      const abandoned = waiting.splice(0);
      expect(abandoned).toHaveLength(16);
      // Whatever was begun for them is given up by that.
      for (const response of abandoned) if (!response.closed) await once(response, 'close');

      const patient = open();
      for (let round = 0; round < 3; round++) {
        patient.write(requests(16));
        while (waiting.length < 16) await once(server, 'request');
        for (const response of waiting.splice(0)) response.end();
        let text = '';
        while (text.split('HTTP/1.1 200').length <= 16) text += String((await once(patient, 'data'))[0]);
      }
      expect(patient.destroyed).toBe(false);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('a response that breaks off', () => {
  /** Receives a part of a response, which is broken off then. Returns whether the connection was reset. */
  const receivePart = async (
    version: '1.0' | '1.1',
    breakOff: (response: ServerResponse, server: Server) => void,
    end: Partial<typeof settings> = {},
  ) => {
    const begun = Promise.withResolvers<ServerResponse>();
    const server = createPublicServer(
      (_request, response) => {
        response.write('Name\n', () => begun.resolve(response));
      },
      { ...settings, ...end },
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
      client.on('error', () => undefined).write(`GET / HTTP/${version}\r\nHost: plinth.example\r\n\r\n`);
      let text = '';
      client.on('data', (part) => (text += String(part)));
      while (!text.includes('Name')) await once(client, 'data');
      const isReset = new Promise<boolean>((resolve) => client.once('close', resolve));
      breakOff(await begun.promise, server);
      return await isReset;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  it('is never whole for a client of HTTP/1.0, whatever breaks it off', async () => {
    const byService = await receivePart('1.0', (response) => response.destroy());
    const byEndOfProcess = await receivePart('1.0', (_response, server) => server.closeAllConnections());
    const byTimeout = await receivePart('1.0', () => undefined, { idleMilliseconds: 50 });
    expect({ byService, byEndOfProcess, byTimeout }).toEqual({
      byService: true,
      byEndOfProcess: true,
      byTimeout: true,
    });
  });

  it('is left as it is where it came to its end', async () => {
    expect(await receivePart('1.0', (response) => response.end())).toBe(false);
    expect(await receivePart('1.1', (response) => response.destroy())).toBe(false);
  });
});
