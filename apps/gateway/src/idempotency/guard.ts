import type { Counter } from 'prom-client';
import type { Problem } from '@plinth/kernel/problem';
import type { RequestContext, HeaderList, CompleteResponse } from '../request-context';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { newRun, type Claim, type KeySpace, type IdempotencyRecords, type Run } from './records';

export interface IdempotencySettings {
  /** Lower case. */
  headerName: string;
  /** Routes that need a key, as `METHOD /path` relative to the prefix with `:name` for parameters. */
  requiredRoutes: ReadonlySet<string>;
  executionMilliseconds: number;
  /** What a key of a multipart request leads to: 422, or a request that is served as if it had none. */
  multipart: 'refuse' | 'ignore';
  /** Larger responses are streamed, but not stored. */
  responseBytesMax: number;
}

/** Steps of a request with a key; tests kill the process there. */
export type Checkpoint = 'before-marker' | 'after-marker' | 'after-response' | 'before-store' | 'after-store';

export interface GuardDeps {
  records: IdempotencyRecords;
  settings: IdempotencySettings;
  outcomes: Counter<'outcome'>;
  /** Responses that exceeded a share. */
  unstored: Counter<'scope'>;
  onCheckpoint: (checkpoint: Checkpoint) => void;
  onStoreError: (error: unknown) => void;
}

/** Sends the request as an operation; `hold` throws the problem `idempotency-in-progress`. */
type Execute = (operationId: string, hold: () => Promise<void>) => Promise<CompleteResponse | undefined>;

const METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const KEY = /^[\x21-\x7e]{1,255}$/;
/** 401 and 403 are not among them: a client may repeat the request with another credential. */
const STORED_ERRORS = new Set([400, 404, 409, 410, 422]);
/** Every other header belongs to the request that is being responded to, not to the first one. */
const STORED_HEADERS = new Set(['location', 'content-type', 'etag', 'content-disposition']);
/** The interface's name, and the one that other platforms use. */
const REPLAYED_HEADERS = ['X-Idempotency-Replayed', 'true', 'Idempotent-Replayed', 'true'];
/** A client is told to wait for the marker to expire, but no longer than this. */
const RETRY_AFTER_SECONDS_MAX = 5;

/** Runs an operation once for each key, across retries, network errors and crashes of gateways. */
export class IdempotencyGuard {
  constructor(private readonly deps: GuardDeps) {}

  get executionMilliseconds(): number {
    return this.deps.settings.executionMilliseconds;
  }

  get responseBytesMax(): number {
    return this.deps.settings.responseBytesMax;
  }

  /**
   * Reads the key of a request; undefined where the request has none and needs none.
   * @throws Problem `invalid` for a missing key, a key that is not valid, and a multipart body.
   */
  readKey(context: RequestContext, routePath: string): string | undefined {
    if (!METHODS.has(context.method)) return undefined;
    const { headerName, requiredRoutes, multipart } = this.deps.settings;
    const isMultipart = /^\s*multipart\//i.test(context.request.headers['content-type'] ?? '');
    if (isMultipart && multipart === 'ignore') return undefined;
    const isRequired = requiredRoutes.size > 0 && requiredRoutes.has(`${context.method} ${routePath}`);
    if (context.request.headers[headerName] === undefined) {
      if (isRequired)
        throw platformProblems['idempotency-key-missing'](`The header ${headerName} is missing.`);
      return undefined;
    }
    const keys = context.valuesOf(headerName);
    if (keys.length !== 1 || !KEY.test(keys[0]!)) {
      throw platformProblems['idempotency-key-not-valid'](`The header ${headerName} is not valid.`);
    }
    if (isMultipart) {
      throw platformProblems['idempotency-multipart'](
        `A multipart request cannot have the header ${headerName}.`,
      );
    }
    return keys[0];
  }

  /**
   * Begins an attempt at the operation of a key, for `run`.
   * @param fingerprint of the body, by which another request with the same key is recognized
   */
  begin(space: KeySpace, fingerprint: string): Run {
    const run = newRun(space, fingerprint);
    this.deps.onCheckpoint('before-marker');
    return run;
  }

  /**
   * Runs the operation unless it has run before, and returns its response.
   * @param hasKey whether it was claimed already
   * `execute` returns undefined when the response was streamed to the client because it is too large to be stored. Where it
   * waits before it sends the request, it calls `hold` then: the key may have passed to another attempt meanwhile.
   * A response that is not to be replayed is not stored: a retry runs again, with the same operation id.
   */
  async run(
    run: Run,
    execute: Execute,
    { isReplayed = true, hasKey = false }: { isReplayed?: boolean; hasKey?: boolean } = {},
  ): Promise<CompleteResponse | undefined> {
    const claim: Claim = hasKey ? { state: 'claimed' } : await this.claim(run);
    this.deps.outcomes.inc({ outcome: claim.state });
    if (claim.state === 'replayed') {
      const { status, headers, body: replayed } = claim.response;
      return { status, headers: [...headers, ...REPLAYED_HEADERS], body: replayed };
    }
    if (claim.state === 'mismatch') {
      throw platformProblems['idempotency-payload-mismatch'](
        'The payload does not match the payload of the first request with this idempotency key.',
      );
    }
    if (claim.state === 'in-progress') throw inProgress(claim.expiresInMilliseconds);
    this.deps.onCheckpoint('after-marker');
    return this.execute(run, execute, isReplayed);
  }

  /**
   * Gives up an attempt that did not learn in time whether it has its key. A slow Redis may set the marker yet: then the
   * client's next attempt is not to wait for it to expire.
   */
  abandon(run: Run): void {
    // That Redis is away has been said.
    this.deps.records.release(run).catch(() => undefined);
  }

  private async execute(
    run: Run,
    execute: Execute,
    isReplayed: boolean,
  ): Promise<CompleteResponse | undefined> {
    let response: CompleteResponse | undefined;
    try {
      response = await execute(run.operationId, () => this.hold(run));
    } catch (error) {
      // After a timeout the operation may still be running, so its marker stays until it expires.
      if ((error as Problem).slug !== 'area-timed-out')
        await this.tolerateErrors(() => this.deps.records.release(run));
      throw error;
    }
    this.deps.onCheckpoint('after-response');
    if (response && isReplayed && isStored(response)) {
      this.deps.onCheckpoint('before-store');
      const stored = { ...response, headers: storedHeaders(response.headers) };
      await this.tolerateErrors(async () => {
        const exceeded = await this.deps.records.store(run, stored);
        if (exceeded) this.deps.unstored.inc({ scope: exceeded });
      });
      this.deps.onCheckpoint('after-store');
    } else await this.tolerateErrors(() => this.deps.records.release(run));
    return response;
  }

  private async hold(run: Run): Promise<void> {
    let isHeld = true;
    await this.tolerateErrors(async () => {
      isHeld = await this.deps.records.hold(run);
    });
    if (!isHeld) throw inProgress(0);
  }

  private async claim(run: Run): Promise<Claim> {
    try {
      return await this.deps.records.claim(run);
    } catch (cause) {
      this.deps.outcomes.inc({ outcome: 'unavailable' });
      this.deps.onStoreError(cause);
      this.abandon(run);
      throw platformProblems['idempotency-unavailable'](
        'Idempotency keys cannot be checked now; the request was not executed.',
        {
          retryAfterSeconds: 2,
          cause,
        },
      );
    }
  }

  /** The operation has run or may run, so it goes on and its response is sent even when it cannot be stored. */
  private async tolerateErrors(update: () => Promise<void>): Promise<void> {
    try {
      await update();
    } catch (error) {
      this.deps.onStoreError(error);
    }
  }
}

const isStored = (response: CompleteResponse): boolean =>
  (response.status >= 200 && response.status < 300) ||
  (STORED_ERRORS.has(response.status) && !isOfOtherBody(response));

const MISMATCH = `/problems/${platformProblems['idempotency-payload-mismatch'].slug}"`;

/** Whether the service executed the operation for a request of another body, whose retry must not meet this response. */
const isOfOtherBody = ({ status, body }: CompleteResponse): boolean =>
  status === 422 && body?.includes(MISMATCH) === true;

function storedHeaders(headers: HeaderList): HeaderList {
  const stored: HeaderList = [];
  for (let index = 0; index < headers.length; index += 2) {
    if (STORED_HEADERS.has(headers[index]!.toLowerCase())) stored.push(headers[index]!, headers[index + 1]!);
  }
  return stored;
}

const inProgress = (expiresInMilliseconds: number): Problem =>
  platformProblems['idempotency-in-progress'](
    'The first request with this idempotency key is still running.',
    {
      retryAfterSeconds: Math.min(
        Math.max(Math.ceil(expiresInMilliseconds / 1000), 1),
        RETRY_AFTER_SECONDS_MAX,
      ),
    },
  );
