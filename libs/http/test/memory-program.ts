import { createServer } from 'node:http';
import { authenticated, endpoint } from '@plinth/contracts/endpoint';
import { Health, listen } from '@plinth/runtime/process/health';
import { z } from 'zod';
import { createService } from '@plinth/http/api';
import { slow } from '@plinth/http/response';
import { serviceContext } from './service-context';

const LARGE_RESPONSE_LENGTH = 16_000_000;

const endpoints = {
  keepThing: endpoint({
    method: 'POST',
    path: '/things',
    summary: 'Keep a thing',
    access: authenticated,
    body: z.unknown(),
    success: { status: 204 },
  }),
  getThing: endpoint({
    method: 'GET',
    path: '/things',
    summary: 'Read a very large thing',
    access: authenticated,
    success: { status: 200, body: z.string() },
    cache: 'none',
  }),
  getReport: endpoint({
    method: 'GET',
    path: '/report',
    summary: 'Read what takes its time and is very large',
    access: authenticated,
    success: { status: 200, body: z.string() },
    cache: 'none',
  }),
};

const keys = process.env['KEYS']!.split(',');
const context = serviceContext(keys, new Health({}), 'production');

/** A service that holds a body for a moment, as one that waits for its database, and has a very large response. */
const app = createService('things', endpoints, context, (api) => {
  api.on(endpoints.keepThing, () => new Promise((resolve) => setTimeout(resolve, 300)));
  api.on(endpoints.getThing, () => 'x'.repeat(LARGE_RESPONSE_LENGTH));
  api.on(endpoints.getReport, () => slow(Promise.resolve('x'.repeat(LARGE_RESPONSE_LENGTH))));
});
void listen(createServer(app), 0, '127.0.0.1').then((port) => process.send!(port));
