import { allEndpoints } from '@plinth/contracts/all';
import type { Endpoint, Endpoints } from '@plinth/contracts/endpoint';
import { newId } from '@plinth/kernel/uuid';
import { readResponse, type ApiResponse, type BodyOf } from './response';
import { addressOf, contentOf, type AnyInput, type InputOf } from './input';
import { send, type RetryOptions, type SendOptions } from './send';

export interface ClientOptions {
  /** The address of the gateway: `https://platform.example.org`. */
  baseUrl: string;
  /** Route prefix; `/api/v1` by default. */
  prefix?: string;
  /** The bearer token, or a function that returns one; called for every attempt. */
  token?: string | (() => string | Promise<string>);
  /**
   * Asked where the platform refuses the token of a request, with that token; resolves to whether there is another one,
   * with which the request is sent again. Each request asks once.
   */
  renewToken?: (refused: string) => Promise<boolean>;
  /** Acts in another tenant than the token's, where the token allows it. */
  tenantId?: string;
  retry?: Partial<RetryOptions>;
  /** How long a response may take to begin, and the next part of one in JSON to arrive; by default a little longer than the gateway waits for a service. */
  timeoutMilliseconds?: number;
  fetch?: typeof fetch;
  wait?: SendOptions['wait'];
}

type Arguments<Input> = Record<never, never> extends Input ? [input?: Input] : [input: Input];
type Call<E extends Endpoint> = (...input: Arguments<InputOf<E>>) => Promise<ApiResponse<BodyOf<E>>>;

/** One function for each endpoint, named as in the contract. */
export type Client<Contract extends Endpoints> = { [Name in keyof Contract]: Call<Contract[Name]> };

const RETRY: RetryOptions = {
  attemptsMax: 4,
  waitMilliseconds: 200,
  waitMillisecondsMax: 5_000,
  periodMilliseconds: Infinity,
};
/** A little longer than the gateway waits for a service, so that one learns from it which service did not respond. */
const TIMEOUT_MILLISECONDS = { default: 35_000, expensive: 305_000 };
/** The bytes of an upload are sent before its response begins, which takes as long as the connection needs. */
const UPLOAD_MILLISECONDS_MAX = 24 * 60 * 60_000;

/** A client of one service, made from its contract. Every function returns a success or throws an `ApiProblem`. */
export function createClient<Contract extends Endpoints>(
  endpoints: Contract,
  options: ClientOptions,
): Client<Contract> {
  const calls = Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    (input: AnyInput = {}) => call(endpoint, input, options),
  ]);
  return Object.fromEntries(calls) as Client<Contract>;
}

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type AllEndpoints = typeof allEndpoints;
type Platform = { [Service in keyof AllEndpoints as CamelCase<Service>]: Client<AllEndpoints[Service]> };

/** A client of the whole platform, with one member for each service: `platform.dataExchange.uploadImport(…)`. */
export const createPlatformClient = (options: ClientOptions): Platform =>
  Object.fromEntries(
    Object.entries<Endpoints>(allEndpoints).map(([service, endpoints]) => [
      service.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
      createClient(endpoints, options),
    ]),
  ) as Platform;

async function call(
  endpoint: Endpoint,
  input: AnyInput,
  options: ClientOptions,
): Promise<ApiResponse<unknown>> {
  const { baseUrl, prefix = '/api/v1', token, renewToken, tenantId } = options;
  const url = baseUrl.replace(/\/$/, '') + prefix + addressOf(endpoint, input);
  // The gateway can compare only JSON bodies, so an upload cannot have a key and is never sent twice.
  const canHaveKey = !endpoint.upload;
  const isWrite = endpoint.method !== 'GET';
  // With a key it would have less time, and its stored response would only take room.
  const made = endpoint.repeatable ? undefined : newId();
  const key = isWrite && canHaveKey ? (input.idempotencyKey ?? made) : undefined;

  const makeContent = contentOf(endpoint, input);
  let bearer: string | undefined;
  const makeRequest = async (): Promise<RequestInit> => {
    bearer = typeof token === 'function' ? await token() : token;
    const { init, headers: headersOfContent } = makeContent();
    const headers = {
      accept: acceptOf(endpoint),
      ...headersOfContent,
      ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
      ...(tenantId ? { 'x-tenant-id': tenantId } : {}),
      ...(key ? { 'idempotency-key': key } : {}),
      ...(input.ifMatch ? { 'if-match': input.ifMatch } : {}),
      ...(input.ifNoneMatch ? { 'if-none-match': input.ifNoneMatch } : {}),
      ...input.headers,
    };
    return { ...init, method: endpoint.method, headers };
  };

  const sending: SendOptions = {
    fetch: options.fetch ?? fetch,
    retry: { ...RETRY, ...options.retry },
    timeoutMilliseconds: options.timeoutMilliseconds ?? timeoutOf(endpoint),
    isFile: endpoint.success.file !== undefined,
    // Under a key it is done once, however often it is sent.
    repeatsWork: endpoint.rateLimitClass === 'expensive' && key === undefined,
    ...(renewToken ? { renewToken: () => renewToken(bearer ?? '') } : {}),
    ...(options.wait ? { wait: options.wait } : {}),
  };
  const response = await send(url, makeRequest, !isWrite || canHaveKey, sending, input.signal);
  return readResponse(endpoint, response);
}

const timeoutOf = ({ upload, rateLimitClass = 'default' }: Endpoint): number =>
  upload ? UPLOAD_MILLISECONDS_MAX : TIMEOUT_MILLISECONDS[rateLimitClass];

/** The media types of all successful responses of an endpoint, and of problems. */
function acceptOf(endpoint: Endpoint): string {
  const successes = [endpoint.success, ...(endpoint.alternatives ?? [])];
  const files = successes.flatMap(({ file }) => (file ? ['application/octet-stream'] : []));
  const events = successes.flatMap((success) => (success.events ? ['text/event-stream'] : []));
  return [...new Set(['application/json', 'application/problem+json', ...files, ...events])].join(', ');
}
