import type { ClientReadableStream } from '@grpc/grpc-js';
import { isApiKey, hashOfApiKey } from '@plinth/kernel/api-key';
import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { Clock } from '@plinth/kernel/clock';
import type { Problem } from '@plinth/kernel/problem';
import { protoPackages } from '@plinth/proto/packages';
import type { ApiKey__Output } from '@plinth/proto/generated/plinth/settings/v1/ApiKey';
import type { ApiKeyRevocation__Output } from '@plinth/proto/generated/plinth/settings/v1/ApiKeyRevocation';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import type { Identity } from './identity';
import { refusalOf, refusedCredential } from './refusal';
import type { RevokedApiKeys } from './revoked-api-keys';

/** A key is looked up again after this time, and the keys of open streams are checked as often. */
const FRESH_MILLISECONDS = 5_000;
/** While the settings service cannot be reached, a key that was good goes on for this time. */
const USABLE_MILLISECONDS = 60_000;
const LOOKUP_MILLISECONDS_MAX = 2_000;
const WATCH_RETRY_MILLISECONDS = 500;
const CACHE_SIZE_MAX = 10_000;

interface Entry {
  identity: Identity;
  lookedUpAt: number;
}

interface ApiKeysDeps {
  /** gRPC address of the settings service. */
  address: string;
  callerKeys: readonly string[];
  clock: Clock;
  revoked: Pick<RevokedApiKeys, 'has'>;
  /** The ids of the keys whose requests never end by themselves. */
  inUse: () => Iterable<string>;
  /** Called with the id of each key that was revoked, so that what is still open ends. */
  onRevoked: (id: string) => void;
}

/**
 * Checks API keys, which the settings service owns. A key that is in use is looked up every few seconds by each gateway.
 * Whatever was looked up, and whenever, a request is accepted only after a look that began later than the request and
 * found no revocation: at the marks in Redis, or at the settings service while Redis is unavailable. What is open ends
 * when the settings service says that its key was revoked, or when a mark is found.
 */
export class ApiKeys {
  private readonly client;
  private readonly entries = new BoundedMap<string, Entry>(CACHE_SIZE_MAX);
  private readonly lookups = new Map<string, Promise<Identity>>();
  private stream: ClientReadableStream<ApiKeyRevocation__Output> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private readonly checks: NodeJS.Timeout;

  constructor(private readonly deps: ApiKeysDeps) {
    this.client = serviceClient('settings', protoPackages.settings.v1.ApiKeys, deps.address, deps.callerKeys);
    this.checks = setInterval(() => void this.endRevoked(), FRESH_MILLISECONDS).unref();
    this.watch();
  }

  /**
   * The identity of a key. `beforeUnknown` runs before a key is looked up that was not seen lately, and may refuse that.
   * @throws Problem `invalid-credential`, or `overloaded` while the settings service cannot be reached
   */
  async identify(key: string, beforeUnknown: () => Promise<void>): Promise<Identity> {
    if (!isApiKey(key)) throw refusedCredential('malformed', 'The API key is not complete.');
    const hash = hashOfApiKey(key);
    const identity = await this.find(hash, beforeUnknown);
    const isRevoked = await this.deps.revoked.has(identity.apiKeyId!);
    if (isRevoked === undefined) return this.lookUp(hash);
    if (isRevoked) throw refusedRevoked();
    return identity;
  }

  /** Ends what is open of keys whose revocation was not told, or was told before it was open. */
  async endRevoked(): Promise<void> {
    for (const id of this.deps.inUse()) if (await this.deps.revoked.has(id)) this.forget(id);
  }

  close(): void {
    clearInterval(this.checks);
    clearTimeout(this.retry);
    if (this.stream) unwatch(this.stream).cancel();
    this.client.close();
  }

  /** The identity of a key as it was some seconds ago, or as a look-up that runs already finds it. */
  private async find(hash: string, beforeUnknown: () => Promise<void>): Promise<Identity> {
    const entry = this.entries.get(hash);
    const now = this.now();
    if (entry && isWithin(FRESH_MILLISECONDS, entry, now)) return requireValid(entry.identity, now);
    let lookup = this.lookups.get(hash);
    if (!lookup) {
      lookup = this.findAgain(hash, entry, beforeUnknown).finally(() => this.lookups.delete(hash));
      this.lookups.set(hash, lookup);
    }
    return lookup;
  }

  private async findAgain(
    hash: string,
    entry: Entry | undefined,
    beforeUnknown: () => Promise<void>,
  ): Promise<Identity> {
    if (!entry) await beforeUnknown();
    try {
      return await this.lookUp(hash);
    } catch (error) {
      const now = this.now();
      const isRefused = refusalOf(error as Problem) !== undefined;
      if (!isRefused && entry && isWithin(USABLE_MILLISECONDS, entry, now) && this.entries.has(hash))
        return requireValid(entry.identity, now);
      throw error;
    }
  }

  private async lookUp(hash: string): Promise<Identity> {
    const lookedUpAt = this.now();
    const options = { deadlineMilliseconds: LOOKUP_MILLISECONDS_MAX };
    const { key } = await this.client.call('Find', { hash }, null, options);
    this.entries.delete(hash);
    if (!key) throw refusedCredential('api-key-unknown', 'There is no such API key.');
    if (key.isRevoked) throw refusedRevoked();
    const identity = requireValid(toIdentity(key), lookedUpAt);
    this.entries.set(hash, { identity, lookedUpAt });
    return identity;
  }

  /** Stays connected for as long as the gateway lives. What was missed while it was not is looked up again. */
  private watch(): void {
    const { client, identity } = this.client;
    const stream = client.WatchRevocations({}, identity('WatchRevocations', null));
    this.stream = stream;
    stream.on('data', ({ id }: ApiKeyRevocation__Output) => {
      if (id === undefined) this.entries.forEach((entry) => (entry.lookedUpAt -= FRESH_MILLISECONDS));
      else this.forget(id);
    });
    const again = (): void => {
      unwatch(stream);
      this.retry = setTimeout(() => this.watch(), WATCH_RETRY_MILLISECONDS).unref();
    };
    stream.once('end', again).once('error', again);
  }

  private forget(id: string): void {
    for (const [hash, { identity }] of this.entries) if (identity.apiKeyId === id) this.entries.delete(hash);
    this.deps.onRevoked(id);
  }

  private now(): number {
    return this.deps.clock.now().getTime();
  }
}

/** A stream that has ended, or is to end, may still fail: nobody minds any more. */
const unwatch = <Stream extends ClientReadableStream<unknown>>(stream: Stream): Stream =>
  stream
    .removeAllListeners('end')
    .removeAllListeners('error')
    .on('error', () => undefined);

const refusedRevoked = () => refusedCredential('api-key-revoked', 'The API key was revoked.');

/** A look-up in the future was made before the clock was set back: nobody knows its age. */
const isWithin = (milliseconds: number, { lookedUpAt }: Entry, now: number): boolean =>
  lookedUpAt <= now && now - lookedUpAt < milliseconds;

/** An API key has no tolerance: its expiry was chosen by the clock of the platform. */
function requireValid(identity: Identity, now: number): Identity {
  if (identity.expiresAt <= now) throw refusedCredential('api-key-expired', 'The API key has expired.');
  return identity;
}

const toIdentity = ({
  id,
  userId,
  userName,
  tenantId,
  permissions,
  expiresAt,
}: ApiKey__Output): Identity => ({
  userId,
  userName,
  tenantId,
  tenants: [],
  permissions,
  expiresAt,
  apiKeyId: id,
});
