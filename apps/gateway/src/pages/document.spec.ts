import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { mountDocument } from './document';

it('sends a document as the same bytes to all, of whom some may not read it', async () => {
  const text = 'ü'.repeat(1_000);
  const make = jest.fn(() => text);
  const app = express();
  const sent: unknown[] = [];
  app.use((_request, response, next) => {
    const end = response.end.bind(response) as (content: unknown) => typeof response;
    response.end = ((content: unknown) => {
      sent.push(content);
      return end(content);
    }) as typeof response.end;
    next();
  });
  mountDocument(app, '/document', { type: 'application/json', make });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    for (let count = 0; count < 2; count++) {
      const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/document`);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.text()).toBe(text);
    }
    expect(sent[0]).toBeInstanceOf(Buffer);
    expect(sent[1]).toBe(sent[0]);
    expect(make).toHaveBeenCalledTimes(1);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
