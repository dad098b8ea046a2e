// One process of the bench: `upstream`, a service that responds with a kilobyte, `bare`, http-proxy-middleware on
// Express, or `fastify`, a proxy with the duties of a gateway that Fastify has plugins for: tokens and limits in Redis.
import fastifyProxy from '@fastify/http-proxy';
import fastifyJwt from '@fastify/jwt';
import fastifyLimit from '@fastify/rate-limit';
import { Agent, createServer } from 'node:http';
import express from 'express';
import Fastify from 'fastify';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { Redis } from 'ioredis';
import { createPublicKey } from 'node:crypto';

const [kind, target = '', keys = '', redisUrl = ''] = process.argv.slice(2);
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

async function fastify() {
  const app = Fastify({ keepAliveTimeout: 60_000 });
  const [key] = JSON.parse(keys);
  const publicKey = createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  await app.register(fastifyJwt, {
    // It only verifies; the plugin wants something to sign with all the same.
    secret: { public: publicKey, private: '' },
    verify: { cache: true, cacheTTL: 60_000 },
  });
  await app.register(fastifyLimit, {
    max: 1e9,
    timeWindow: 60_000,
    redis: new Redis(redisUrl),
    hook: 'preHandler',
    keyGenerator: (request) => /** @type {{ sub: string }} */ (request.user).sub,
  });
  app.addHook('onRequest', (request) => request.jwtVerify());
  await app.register(fastifyProxy, { upstream: target, undici: { connections: 256 } });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

if (kind === 'fastify') process.send?.((await fastify()).address());
else {
  const server = createServer({ keepAliveTimeout: 60_000 }, kind === 'upstream' ? upstream() : bare());
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
}
