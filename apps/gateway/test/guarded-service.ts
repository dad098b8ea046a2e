import { randomUUID } from 'node:crypto';
import { receive, sendJson, startUpstream, type StartedGateway } from './start-gateway';

type GatewayClient = Pick<StartedGateway, 'fetch'>;

/** A service that runs each effect once by operation id, as all services of the platform do. */
export async function startGuardedService(delay: () => Promise<void> = async () => undefined) {
  const idByOperation = new Map<string, string>();
  let effects = 0;
  const url = await startUpstream((request, response) => {
    void receive(request)
      .then(async ({ claims }) => {
        await delay();
        const operationId = claims.caller!.operationId!;
        const known = idByOperation.get(operationId);
        if (known === undefined) {
          effects += 1;
          idByOperation.set(operationId, randomUUID());
        }
        sendJson(response, 201, { id: idByOperation.get(operationId) });
      })
      .catch(() => response.destroy());
  });
  return { url, effects: () => effects };
}

export const post = ({ fetch }: GatewayClient, key: string): Promise<Response> =>
  fetch('/api/v1/things', {
    method: 'POST',
    body: '{"name":"a"}',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  });

/** Retries until the response is final. */
export async function postUntilDone(gateway: GatewayClient, key: string): Promise<{ id: string }> {
  for (;;) {
    const response = await post(gateway, key);
    if (response.status === 201) return (await response.json()) as { id: string };
    expect([409, 503]).toContain(response.status);
    expect(response.headers.has('retry-after')).toBe(true);
    await response.arrayBuffer();
  }
}
