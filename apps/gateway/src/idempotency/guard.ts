import { randomUUID } from 'node:crypto';
import type { Counter } from 'prom-client';
import type { Problem } from '@plinth/kernel/problem';
import type { Exchange, HeaderList, WholeAnswer } from '../exchange';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { fingerprintOf, operationIdOf, type Claim, type KeySpace, type Ledger, type Run } from './ledger';

export interface IdempotencySettings {
  /** Lower case. */
  headerName: string;
  /** Routes that need a key, as `METHOD /path` relative to the prefix with `:name` for parameters. */
  requiredRoutes: ReadonlySet<string>;
  executionMilliseconds: number;
  /** Larger answers are passed on, but not kept. */
  answerBytesMax: number;
}

/** Places in the course of a guarded request; tests end the process there. */
export type Checkpoint =
  'before-marker' | 'after-marker' | 'after-upstream-answered' | 'before-store' | 'after-store';

export interface GuardDeps {
  ledger: Ledger;
  settings: IdempotencySettings;
  outcomes: Counter<'outcome'>;
  onCheckpoint: (checkpoint: Checkpoint) => void;
  onLedgerFailure: (error: unknown) => void;
}

const METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Interface, "Idempotency": 401 and 403 are never stored. */
const STORED_ERRORS = new Set([400, 404, 409, 410, 422]);
/** Silences, row 14: no other header of the first answer is replayed. */
const STORED_HEADERS = new Set(['location', 'content-type', 'etag', 'content-disposition']);
/** Before a marker can be gone there is no use in asking again. */
const RETRY_AFTER_SECONDS_MAX = 5;

/** Runs an operation once per key, whatever its client, its network and the gateways do. */
export class IdempotencyGuard {
  constructor(private readonly deps: GuardDeps) {}

  get executionMilliseconds(): number {
    return this.deps.settings.executionMilliseconds;
  }

  get answerBytesMax(): number {
    return this.deps.settings.answerBytesMax;
  }

  /**
   * Reads the key of a request; undefined where the request has none and needs none.
   * @throws Problem `invalid` for a missing key, a key that is not valid, and a multipart body.
   */
  readKey(exchange: Exchange, routePath: string): string | undefined {
    if (!METHODS.has(exchange.method)) return undefined;
    const { headerName, requiredRoutes } = this.deps.settings;
    const isRequired = requiredRoutes.size > 0 && requiredRoutes.has(`${exchange.method} ${routePath}`);
    if (exchange.request.headers[headerName] === undefined) {
      if (isRequired)
        throw platformProblems['idempotency-key-missing'](`The header ${headerName} is missing.`);
      return undefined;
    }
    const keys = exchange.valuesOf(headerName);
    if (keys.length !== 1 || !KEY.test(keys[0]!)) {
      throw platformProblems['idempotency-key-not-valid'](`The header ${headerName} is not valid.`);
    }
    if (/^\s*multipart\//i.test(exchange.request.headers['content-type'] ?? '')) {
      throw platformProblems['idempotency-multipart'](
        `A multipart request cannot have the header ${headerName}.`,
      );
    }
    return keys[0];
  }

  /**
   * Runs the operation if nobody did so before, and answers what it answered.
   * `execute` answers undefined when the answer went to the client on the way, too large to be kept.
   */
  async run(
    space: KeySpace,
    body: Buffer,
    execute: (operationId: string) => Promise<WholeAnswer | undefined>,
  ): Promise<WholeAnswer | undefined> {
    const run = { operationId: operationIdOf(space), run: randomUUID(), fingerprint: fingerprintOf(body) };
    this.deps.onCheckpoint('before-marker');
    const claim = await this.claim(run);
    this.deps.outcomes.inc({ outcome: claim.state });
    if (claim.state === 'answered') {
      const { status, headers, body: replayed } = claim.answer;
      return { status, headers: [...headers, 'X-Idempotency-Replayed', 'true'], body: replayed };
    }
    if (claim.state === 'mismatch') {
      throw platformProblems['idempotency-payload-mismatch'](
        'The payload does not match that of the first request with this idempotency key.',
      );
    }
    if (claim.state === 'in-progress') throw inProgress(claim.expiresInMilliseconds);
    this.deps.onCheckpoint('after-marker');
    return this.execute(run, execute);
  }

  private async execute(
    run: Run,
    execute: (operationId: string) => Promise<WholeAnswer | undefined>,
  ): Promise<WholeAnswer | undefined> {
    let answer: WholeAnswer | undefined;
    try {
      answer = await execute(run.operationId);
    } catch (error) {
      // After a time-out the operation may still be running, so its marker stays until it expires.
      if ((error as Problem).slug !== 'area-timed-out')
        await this.quietly(() => this.deps.ledger.release(run));
      throw error;
    }
    this.deps.onCheckpoint('after-upstream-answered');
    if (answer && isStored(answer.status)) {
      this.deps.onCheckpoint('before-store');
      const kept = { ...answer, headers: storedHeaders(answer.headers) };
      await this.quietly(() => this.deps.ledger.store(run, kept));
      this.deps.onCheckpoint('after-store');
    } else await this.quietly(() => this.deps.ledger.release(run));
    return answer;
  }

  private async claim(run: Run): Promise<Claim> {
    try {
      return await this.deps.ledger.claim(run);
    } catch (cause) {
      this.deps.outcomes.inc({ outcome: 'unavailable' });
      this.deps.onLedgerFailure(cause);
      throw platformProblems['idempotency-unavailable'](
        'Idempotency keys cannot be checked now; nothing was executed.',
        {
          retryAfterSeconds: 2,
          cause,
        },
      );
    }
  }

  /** The effect has happened, so its answer is given even when the ledger cannot be told. */
  private async quietly(tell: () => Promise<void>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      this.deps.onLedgerFailure(error);
    }
  }
}

const isStored = (status: number): boolean => (status >= 200 && status < 300) || STORED_ERRORS.has(status);

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
