import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { entityTag } from '@plinth/kernel/entity-tag';
import { jsonPieces } from '@plinth/kernel/json-pieces';
import { forMany } from '@plinth/runtime/process/current-work';
import { EventLoopTurns, turnsAt, type FairPlaces } from '@plinth/runtime/process/fair-places';
import { fallbackChain } from '../domain/culture';
import { languages } from '../domain/languages';
import { mergeInSteps, type BaseTexts, type Override, type Resources } from '../domain/texts';
import { TEXT_READINGS, type FirstTexts, type OverrideStore } from './override-store';

/** Everything a tenant reads in one culture. */
export interface CultureTexts {
  culture: string;
  resources: Resources;
  /** Whether nothing of the tenant's own texts was left out. */
  isComplete: boolean;
  etag: string;
}

/**
 * The texts that tenants read, cached in the process. They are invalidated when any replica broadcasts that overrides of
 * the tenant changed; since a broadcast may be lost, the tenant's version is checked now and then.
 */
export interface TextCache {
  /** The cultures in which texts can be read: the platform's, and those in which the tenant has overrides. */
  cultures(tenantId: string): Promise<ReadonlySet<string>>;
  /** The texts in a culture that is one of `cultures`. */
  read(tenantId: string, culture: string): Promise<CultureTexts>;
  invalidate(tenantId: string): void;
}

export interface TextCacheOptions {
  base: BaseTexts;
  /** Undefined in an installation without overrides. */
  overrides: Pick<OverrideStore, 'version' | 'cultures' | 'inCultures'> | undefined;
  /** In which all of a tenant's texts are read and made ready: one of a tenant at a time, and its rest after it. */
  readings?: FairPlaces;
  /** Called when texts of a tenant are left out of what is read in a culture. */
  onIncomplete?: (tenantId: string, culture: string) => void;
  now?: () => number;
  /** Waits after texts of a size were read, before more of the tenant are. */
  rest?: (size: number) => Promise<void>;
  /** How many characters of text are cached at most, over all tenants. */
  sizeMax?: number;
}

const VERSION_CHECK_MILLISECONDS = 2_000;
const SIZE_MAX = 32_000_000;
/** The size of a tenant without texts of its own. */
const TENANT_SIZE = 1_000;
/** What a text takes however short it is, on top of its characters. */
const TEXT_SIZE = 60;

/** Characters that are read and made ready to send in one millisecond, four times as fast as a tenant may have them read. */
const SIZE_PER_MILLISECOND_OF_REST = 10_000;
/** Texts of usual tenants take no longer. */
const REST_MILLISECONDS_MIN = 20;

/** Whoever changes one of very many texts and reads them, again and again, takes a part of the process, not all of it. */
const restAfter = async (size: number): Promise<void> => {
  const milliseconds = size / SIZE_PER_MILLISECOND_OF_REST;
  if (milliseconds >= REST_MILLISECONDS_MIN) await pause(milliseconds, undefined, { ref: false });
};

interface CachedTenant {
  /** Read before anything else, so that what is cached is never older than its version. */
  version: Promise<string>;
  cultures: Promise<ReadonlySet<string>>;
  /** The least recently used first. */
  textsByCulture: Map<string, CachedTexts>;
  size: number;
  checkedAt: number;
}

interface CachedTexts {
  loading: Promise<CultureTexts>;
  /** Zero while they are loaded, and where they are the platform's. */
  size: number;
}

const NO_TEXTS: FirstTexts<Override> = { texts: [], areAll: true };
const platformCultures: ReadonlySet<string> = new Set(languages.map(({ cultureName }) => cultureName));

export function textCache({
  base,
  overrides,
  readings = turnsAt(TEXT_READINGS),
  onIncomplete = () => undefined,
  now = Date.now,
  rest = restAfter,
  sizeMax = SIZE_MAX,
}: TextCacheOptions): TextCache {
  /** By tenant, the least recently used first. */
  const tenants = new Map<string, CachedTenant>();
  const platformTexts = new Map<string, Promise<CultureTexts>>();
  const turns = new EventLoopTurns();
  let size = 0;

  const invalidate = (tenantId: string): void => {
    size -= tenants.get(tenantId)?.size ?? 0;
    tenants.delete(tenantId);
  };
  const invalidateOnError = <Value>(
    tenantId: string,
    cached: CachedTenant,
    loading: Promise<Value>,
  ): Promise<Value> => {
    loading.catch(() => {
      if (tenants.get(tenantId) === cached) invalidate(tenantId);
    });
    return loading;
  };

  const open = (tenantId: string): CachedTenant => {
    const version = overrides?.version(tenantId) ?? Promise.resolve('');
    const cultures = version.then(async () => {
      const own = (await overrides?.cultures(tenantId)) ?? [];
      return own.length === 0 ? platformCultures : new Set([...platformCultures, ...own]);
    });
    const cached: CachedTenant = { version, cultures, textsByCulture: new Map(), size: 0, checkedAt: now() };
    void invalidateOnError(tenantId, cached, cultures);
    return cached;
  };

  /** Compares the cached version with the stored one, once for all requests that come meanwhile. */
  const check = async (tenantId: string, cached: CachedTenant): Promise<void> => {
    cached.checkedAt = now();
    const before = cached.version;
    const current = overrides!.version(tenantId);
    cached.version = invalidateOnError(tenantId, cached, current);
    if ((await before) !== (await current) && tenants.get(tenantId) === cached) invalidate(tenantId);
  };

  const current = async (tenantId: string): Promise<CachedTenant> => {
    const known = tenants.get(tenantId);
    const cached = known ?? open(tenantId);
    tenants.delete(tenantId);
    tenants.set(tenantId, cached);
    if (!known) grow(tenantId, cached, TENANT_SIZE);
    const isDue = overrides !== undefined && now() - cached.checkedAt >= VERSION_CHECK_MILLISECONDS;
    if (!isDue) return cached;
    await check(tenantId, cached);
    return tenants.get(tenantId) === cached ? cached : current(tenantId);
  };

  const load = async (
    tenantId: string,
    cached: CachedTenant,
    culture: string,
    loaded: (size: number) => void,
  ): Promise<CultureTexts> => {
    await cached.version;
    const made = await readings.run({ tenantId, userId: '' }, async () => {
      const own = (await overrides?.inCultures(tenantId, fallbackChain(culture))) ?? NO_TEXTS;
      if (own.texts.length === 0) return undefined;
      if (!own.areAll) onIncomplete(tenantId, culture);
      const ready = await make(tenantId, own, culture);
      // Before it leaves its place, which would go to the tenant's next reading.
      readings.rest(tenantId, rest(ready.size));
      return ready;
    });
    if (!made) return platformTextsIn(culture);
    loaded(made.size);
    if (tenants.get(tenantId) === cached) grow(tenantId, cached, made.size);
    return made.texts;
  };

  /** Tenants without texts of their own share the platform's, so that requests for many tenants fill no memory. */
  const platformTextsIn = (culture: string): Promise<CultureTexts> => {
    const known = platformTexts.get(culture);
    if (known) return known;
    const making = make('', NO_TEXTS, culture).then(({ texts }) => texts);
    if (platformCultures.has(culture)) platformTexts.set(culture, making);
    return making;
  };

  const make = (tenantId: string, own: FirstTexts<Override>, culture: string) =>
    turns.takeEach({ tenantId, userId: '' }, makeTexts(base, own, culture));

  const grow = (tenantId: string, cached: CachedTenant, added: number): void => {
    cached.size += added;
    size += added;
    forgetCultures(cached);
    for (const [oldest] of tenants) {
      if (size <= sizeMax) return;
      if (oldest !== tenantId || tenants.size === 1) invalidate(oldest);
    }
  };

  /** A tenant has half of the cache at most: whoever reads very many cultures makes nobody else's be forgotten. */
  const forgetCultures = (cached: CachedTenant): void => {
    for (const [culture, texts] of cached.textsByCulture) {
      if (cached.size <= sizeMax / 2) return;
      if (texts.size === 0) continue;
      cached.textsByCulture.delete(culture);
      cached.size -= texts.size;
      size -= texts.size;
    }
  };

  const readCulture = (tenantId: string, cached: CachedTenant, culture: string): Promise<CultureTexts> => {
    const known = cached.textsByCulture.get(culture);
    const loading =
      known?.loading ??
      invalidateOnError(
        tenantId,
        cached,
        load(tenantId, cached, culture, (loadedSize) => (texts.size = loadedSize)),
      );
    const texts: CachedTexts = known ?? { loading, size: 0 };
    cached.textsByCulture.delete(culture);
    cached.textsByCulture.set(culture, texts);
    return loading;
  };

  return {
    cultures: (tenantId) => forMany(async () => (await current(tenantId)).cultures),

    read: (tenantId, culture) => forMany(async () => readCulture(tenantId, await current(tenantId), culture)),

    invalidate,
  };
}

/** Makes texts in steps, so that however many a tenant has, nobody else in the process waits for more than one of them. */
function* makeTexts(
  base: BaseTexts,
  { texts: own, areAll }: FirstTexts<Override>,
  culture: string,
): Generator<void, { texts: CultureTexts; size: number }> {
  const resources = yield* mergeInSteps(base, own, culture);
  // Of everything in the response; the languages change only with the program.
  const hash = createHash('sha256').update(JSON.stringify([culture, languages]));
  let length = 0;
  for (const piece of jsonPieces(resources)) {
    hash.update(piece);
    length += piece.length;
    yield;
  }
  return {
    texts: { culture, resources, isComplete: areAll, etag: entityTag(hash.digest('base64url').slice(0, 27)) },
    size: length + TEXT_SIZE * own.length,
  };
}
