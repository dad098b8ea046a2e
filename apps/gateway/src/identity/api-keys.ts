import type { ClientReadableStream } from '@grpc/grpc-js';
import { isApiKey, hashOfApiKey } from '@plinth/kernel/api-key';
import type { Clock } from '@plinth/kernel/clock';
import { protoPackages } from '@plinth/proto/packages';
import type { ApiKey__Output } from '@plinth/proto/generated/plinth/settings/v1/ApiKey';
import type { ApiKeyRevocation__Output } from '@plinth/proto/generated/plinth/settings/v1/ApiKeyRevocation';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import type { Identity } from './identity';
import { refusedCredential } from './refusal';

/** A key is looked up again after this time, which also heals a revocation that did not arrive. */
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
  /** Called with the id of each key that was revoked, so that what is still open ends. */
  onRevoked: (id: string) => void;
}

/**
 * Checks API keys, which the settings service owns. A key that is in use is looked up every few seconds by each gateway,
 * and forgotten at once when the settings service says that it was revoked.
 */
export class ApiKeys {
  private readonly client;
  private readonly entries = new Map<string, Entry>();
  private readonly lookups = new Map<string, Promise<Identity>>();
  /** Keys that were revoked while they may have been looked up. */
  private readonly revoked = new Set<string>();
  private stream: ClientReadableStream<ApiKeyRevocation__Output> | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly deps: ApiKeysDeps) {
    this.client = serviceClient('settings', protoPackages.settings.v1.ApiKeys, deps.address, deps.callerKeys);
    this.watch();
  }

  /**
   * The identity of a key. `beforeUnknown` runs before a key is looked up that was not seen lately, and may refuse that.
   * @throws Problem `invalid-credential`, or `overloaded` while the settings service cannot be reached
   */
  identify(key: string, beforeUnknown: () => Promise<void>): Identity | Promise<Identity> {
    if (!isApiKey(key)) throw refusedCredential('malformed', 'The API key is not complete.');
    const hash = hashOfApiKey(key);
    const entry = this.entries.get(hash);
    const now = this.now();
    if (entry && now - entry.lookedUpAt < FRESH_MILLISECONDS) return requireValid(entry.identity, now);
    const pending = this.lookups.get(hash);
    if (pending) return pending;
    const lookup = this.lookUp(hash, entry, beforeUnknown).finally(() => this.lookups.delete(hash));
    this.lookups.set(hash, lookup);
    return lookup;
  }

  close(): void {
    clearTimeout(this.retry);
    if (this.stream) unwatch(this.stream).cancel();
    this.client.close();
  }

  private async lookUp(
    hash: string,
    entry: Entry | undefined,
    beforeUnknown: () => Promise<void>,
  ): Promise<Identity> {
    if (!entry) await beforeUnknown();
    const lookedUpAt = this.now();
    const options = { deadlineMilliseconds: LOOKUP_MILLISECONDS_MAX };
    let found: ApiKey__Output | null | undefined;
    try {
      found = (await this.client.call('Find', { hash }, null, options)).key;
    } catch (error) {
      if (entry && lookedUpAt - entry.lookedUpAt < USABLE_MILLISECONDS && this.entries.has(hash))
        return requireValid(entry.identity, lookedUpAt);
      throw error;
    }
    this.entries.delete(hash);
    if (!found) throw refusedCredential('api-key-unknown', 'There is no such API key.');
    if (found.isRevoked || this.revoked.has(found.id))
      throw refusedCredential('api-key-revoked', 'The API key was revoked.');
    const identity = requireValid(toIdentity(found), lookedUpAt);
    if (this.entries.size >= CACHE_SIZE_MAX) this.entries.delete(this.entries.keys().next().value!);
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
    if (this.revoked.size >= CACHE_SIZE_MAX) this.revoked.delete(this.revoked.keys().next().value!);
    this.revoked.add(id);
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
