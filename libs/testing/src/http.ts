import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import type { Caller } from '@plinth/kernel/caller';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { CALLER_HEADER, signCaller } from '@plinth/runtime/rpc/signed-caller';
import { HEADER_BYTES_MAX, KEEP_ALIVE_MILLISECONDS } from '@plinth/http/serve';
import type { Express } from 'express';

/** Keys of the processes under test. */
export const TEST_KEYS = ['a-key-that-only-tests-use'];

/** A caller of a new tenant, by default with all permissions. */
export const aCaller = (parts: Partial<Caller> = {}): Caller => ({
  tenantId: newId(),
  tenantName: 'Test',
  userId: `user-${newId()}`,
  userName: 'Ada Lovelace',
  permissions: ['*'],
  ...parts,
});

export interface TestResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON body; undefined where there is none. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read responses without types
  body: any;
  text: string;
}

export interface RequestOptions {
  /** Sent as JSON; a string or bytes are sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** HTTP as one caller; paths are below the prefix. */
export interface TestClient {
  get(path: string, options?: RequestOptions): Promise<TestResponse>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<TestResponse>;
  put(path: string, body?: unknown, options?: RequestOptions): Promise<TestResponse>;
  delete(path: string, options?: RequestOptions): Promise<TestResponse>;
  send(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
  /** The signed header and address of a request, for what `send` cannot do. */
  address(method: string, path: string): { url: string; headers: Record<string, string> };
}

export interface TestServer {
  url: string;
  as(caller: Caller | null, tenantId?: string): TestClient;
  close(): Promise<void>;
}

/** Serves an app on a free port, with clients that call it as the gateway would. */
export async function serveForTest(app: Express, prefix = '/api/v1'): Promise<TestServer> {
  const server: Server = createServer(
    { maxHeaderSize: HEADER_BYTES_MAX, keepAliveTimeout: KEEP_ALIVE_MILLISECONDS },
    app,
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    as: (caller, tenantId = caller?.tenantId ?? HOST_TENANT_ID) => clientOf(url, prefix, caller, tenantId),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A client that calls the service at this address as the gateway would. */
export function clientOf(url: string, prefix: string, caller: Caller | null, tenantId: string): TestClient {
  const address = (method: string, path: string) => {
    const target = prefix + path;
    const { pathname, search } = new URL(url + target);
    const claims = { caller, tenantId, method, path: pathname + search, instance: pathname };
    const signed = signCaller(claims, TEST_KEYS);
    return { url: url + target, headers: { [CALLER_HEADER]: signed } };
  };
  const send = async (method: string, path: string, options: RequestOptions = {}): Promise<TestResponse> => {
    const { url: target, headers } = address(method, path);
    const isRaw = typeof options.body === 'string' || options.body instanceof Uint8Array;
    const response = await fetch(target, {
      method,
      headers: {
        ...headers,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { body: (isRaw ? options.body : JSON.stringify(options.body)) as string }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };
  return {
    address,
    send,
    get: (path, options) => send('GET', path, options),
    delete: (path, options) => send('DELETE', path, options),
    post: (path, body, options) => send('POST', path, { ...options, body }),
    put: (path, body, options) => send('PUT', path, { ...options, body }),
  };
}
