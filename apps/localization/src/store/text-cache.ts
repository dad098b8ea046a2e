import { createHash } from 'node:crypto';
import { entityTag } from '@plinth/kernel/entity-tag';
import { fallbackChain } from '../domain/culture';
import { languages } from '../domain/languages';
import { mergeTexts, type BaseTexts, type Override, type Resources } from '../domain/texts';
import type { OverrideStore } from './override-store';

/** Everything a tenant reads in one culture. */
export interface Bundle {
  culture: string;
  resources: Resources;
  etag: string;
}

/**
 * What tenants read, kept in the process. A tenant's texts are forgotten when any replica tells that they changed; a
 * message that was lost is made good by looking at the tenant's version now and then.
 */
export interface TextCache {
  /** The cultures in which texts can be read: the platform's, and those in which the tenant has overrides. */
  cultures(tenantId: string): Promise<ReadonlySet<string>>;
  /** The texts in a culture that is one of `cultures`. */
  read(tenantId: string, culture: string): Promise<Bundle>;
  forget(tenantId: string): void;
}

export interface TextCacheOptions {
  base: BaseTexts;
  /** Undefined where no overrides are kept. */
  overrides: Pick<OverrideStore, 'version' | 'cultures' | 'inCultures'> | undefined;
  now?: () => number;
  /** Most characters of text that are kept, over all tenants. */
  sizeMax?: number;
}

const VERSION_CHECK_MILLISECONDS = 2_000;
const SIZE_MAX = 32_000_000;
/** What a tenant without a text of its own is counted as. */
const TENANT_SIZE = 1_000;

interface TenantTexts {
  /** Read before anything else, so that what is held is never older than its version says. */
  version: Promise<string>;
  cultures: Promise<ReadonlySet<string>>;
  bundles: Map<string, Promise<Bundle>>;
  size: number;
  checkedAt: number;
}

const platformCultures = languages.map(({ cultureName }) => cultureName);

export function textCache({
  base,
  overrides,
  now = Date.now,
  sizeMax = SIZE_MAX,
}: TextCacheOptions): TextCache {
  /** Tenant, then culture: a key is never glued together. The least recently used tenant comes first. */
  const tenants = new Map<string, TenantTexts>();
  const platformBundles = new Map<string, Bundle>();
  let size = 0;

  const forget = (tenantId: string): void => {
    size -= tenants.get(tenantId)?.size ?? 0;
    tenants.delete(tenantId);
  };
  const forgetOnFailure = <Value>(
    tenantId: string,
    held: TenantTexts,
    loading: Promise<Value>,
  ): Promise<Value> => {
    loading.catch(() => {
      if (tenants.get(tenantId) === held) forget(tenantId);
    });
    return loading;
  };

  const open = (tenantId: string): TenantTexts => {
    const version = overrides?.version(tenantId) ?? Promise.resolve('');
    const cultures = version.then(async () => {
      const own = (await overrides?.cultures(tenantId)) ?? [];
      return new Set([...platformCultures, ...own]);
    });
    const held: TenantTexts = { version, cultures, bundles: new Map(), size: 0, checkedAt: now() };
    void forgetOnFailure(tenantId, held, cultures);
    return held;
  };

  /** Looks whether the version is still the one that is held; one look serves everybody who asks meanwhile. */
  const check = async (tenantId: string, held: TenantTexts): Promise<void> => {
    held.checkedAt = now();
    const before = held.version;
    const current = overrides!.version(tenantId);
    held.version = forgetOnFailure(tenantId, held, current);
    if ((await before) !== (await current) && tenants.get(tenantId) === held) forget(tenantId);
  };

  const current = async (tenantId: string): Promise<TenantTexts> => {
    const known = tenants.get(tenantId);
    const held = known ?? open(tenantId);
    tenants.delete(tenantId);
    tenants.set(tenantId, held);
    if (!known) grow(tenantId, held, TENANT_SIZE);
    const isDue = overrides !== undefined && now() - held.checkedAt >= VERSION_CHECK_MILLISECONDS;
    if (!isDue) return held;
    await check(tenantId, held);
    return tenants.get(tenantId) === held ? held : current(tenantId);
  };

  const load = async (tenantId: string, held: TenantTexts, culture: string): Promise<Bundle> => {
    await held.version;
    const own = (await overrides?.inCultures(tenantId, fallbackChain(culture))) ?? [];
    if (own.length === 0) return platformBundle(culture);
    const { bundle, size: added } = makeBundle(base, own, culture);
    if (tenants.get(tenantId) === held) grow(tenantId, held, added);
    return bundle;
  };

  /** Tenants without texts of their own share the platform's, so that asking for many tenants fills no memory. */
  const platformBundle = (culture: string): Bundle => {
    const bundle = platformBundles.get(culture) ?? makeBundle(base, [], culture).bundle;
    if (platformCultures.includes(culture)) platformBundles.set(culture, bundle);
    return bundle;
  };

  const grow = (tenantId: string, held: TenantTexts, added: number): void => {
    held.size += added;
    size += added;
    for (const [oldest] of tenants) {
      if (size <= sizeMax) return;
      if (oldest !== tenantId || tenants.size === 1) forget(oldest);
    }
  };

  return {
    cultures: async (tenantId) => (await current(tenantId)).cultures,

    read: async (tenantId, culture) => {
      const held = await current(tenantId);
      let bundle = held.bundles.get(culture);
      if (!bundle) {
        bundle = forgetOnFailure(tenantId, held, load(tenantId, held, culture));
        held.bundles.set(culture, bundle);
      }
      return bundle;
    },

    forget,
  };
}

function makeBundle(
  base: BaseTexts,
  own: readonly Override[],
  culture: string,
): { bundle: Bundle; size: number } {
  const resources = mergeTexts(base, own, culture);
  const json = JSON.stringify(resources);
  // Made from all that the answer holds; the languages change only with the program.
  const hash = createHash('sha256')
    .update(JSON.stringify([culture, languages]))
    .update(json);
  return {
    bundle: { culture, resources, etag: entityTag(hash.digest('base64url').slice(0, 27)) },
    size: json.length,
  };
}
