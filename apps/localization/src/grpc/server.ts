import { serveExchange } from '@plinth/exchange/serve-exchange';
import { forbidden, invalid } from '@plinth/kernel/problem';
import type { ResolveTextsRequest__Output } from '@plinth/proto/generated/plinth/localization/v1/ResolveTextsRequest';
import type { ResolveTextsResponse } from '@plinth/proto/generated/plinth/localization/v1/ResolveTextsResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import { canonicalCulture } from '@plinth/contracts/schemas';
import type { Deps } from '../compose';
import { readTexts } from '../app/read-texts';
import { emptyRecord } from '../domain/texts';
import { overridesExchange } from '../exchange/overrides';

type Needs = Pick<
  Deps,
  | 'config'
  | 'log'
  | 'texts'
  | 'base'
  | 'bulkPool'
  | 'quota'
  | 'ledgerQuota'
  | 'outbox'
  | 'textChecks'
  | 'onOverridesChanged'
>;

/** The calls that other services make of this one. */
export function grpcServices({
  config,
  log,
  texts,
  base,
  bulkPool,
  outbox,
  quota,
  ledgerQuota,
  textChecks,
  onOverridesChanged,
}: Needs): GrpcService[] {
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const ResolveTexts = unary<ResolveTextsRequest__Output, ResolveTextsResponse>(async (request, caller) => {
    const { tenantId, cultureName } = request;
    if (caller && caller.tenantId !== tenantId)
      throw forbidden('Texts can be resolved only in your own tenant.');
    const requested = cultureName === '' ? undefined : canonicalCulture(cultureName);
    if (cultureName !== '' && requested === undefined) throw invalid({ cultureName: 'Format' });

    const preferences = { requested, preferred: undefined, acceptLanguage: undefined };
    const { culture, resources } = await readTexts(texts, tenantId, preferences);
    return {
      cultureName: culture,
      texts: Array.from(keysByResource(request.resources), ([resourceName, keys]) => {
        const resource = resources[resourceName] ?? emptyRecord<string>();
        return [...(keys ?? Object.keys(resource))]
          .filter((key) => resource[key] !== undefined)
          .map((key) => ({ resourceName, key, value: resource[key]! }));
      }).flat(),
    };
  });

  const localization = {
    definition: protoPackages.localization.v1.Localization.service,
    handlers: { ResolveTexts },
  };
  if (!bulkPool || !outbox || !quota || !ledgerQuota) return [localization];
  const exchange = serveExchange([overridesExchange(base, textChecks, quota, onOverridesChanged)], {
    config,
    log,
    bulkPool,
    outbox,
    importQuotas: { override: quota },
    ledgerQuota,
  });
  return [localization, exchange];
}

/** What is asked for many times is answered once: texts are much longer than names. Undefined are all keys of a resource. */
function keysByResource(
  asked: ResolveTextsRequest__Output['resources'],
): ReadonlyMap<string, ReadonlySet<string> | undefined> {
  const wanted = new Map<string, Set<string> | undefined>();
  for (const { resourceName, keys } of asked) {
    const known = wanted.has(resourceName) ? wanted.get(resourceName) : new Set<string>();
    for (const key of keys) known?.add(key);
    wanted.set(resourceName, keys.length > 0 ? known : undefined);
  }
  return wanted;
}
