// One process of the bench: `upstream`, a service that responds with a kilobyte, or `bare`, http-proxy-middleware on Express.
import { Agent, createServer } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const [kind, target = ''] = process.argv.slice(2);
const body = JSON.stringify({
  items: Array.from({ length: 16 }, (_, index) => ({ id: index, name: 'x'.repeat(40) })),
});

/** @returns {import('node:http').RequestListener} */
function upstream() {
  return (request, response) => {
    request.resume();
    response.writeHead(request.method === 'POST' ? 201 : 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'private, no-cache',
    });
    response.end(body);
  };
}

function bare() {
  const app = express();
  app.use(
    createProxyMiddleware({
      target,
      changeOrigin: true,
      agent: new Agent({ keepAlive: true, maxSockets: 256 }),
    }),
  );
  return app;
}

const server = createServer({ keepAliveTimeout: 60_000 }, kind === 'upstream' ? upstream() : bare());
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
