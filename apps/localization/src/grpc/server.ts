import { serveExchange } from '@plinth/conventions/exchange/serve-exchange';
import { forbidden, invalid } from '@plinth/kernel/problem';
import type { ResolveTextsRequest__Output } from '@plinth/proto/generated/plinth/localization/v1/ResolveTextsRequest';
import type { ResolveTextsResponse } from '@plinth/proto/generated/plinth/localization/v1/ResolveTextsResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/grpc';
import { canonicalCulture } from '@plinth/contracts/schemas';
import type { Deps } from '../compose';
import { chooseCulture } from '../domain/culture';
import { overridesExchange } from './exchange';

type Needs = Pick<Deps, 'config' | 'log' | 'texts' | 'base' | 'pool' | 'announce'>;

/** The questions of sibling services that this service answers. */
export function grpcServices({ config, log, texts, base, pool, announce }: Needs): GrpcService[] {
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const ResolveTexts = unary<ResolveTextsRequest__Output, ResolveTextsResponse>(async (request, caller) => {
    const { tenantId, cultureName } = request;
    if (caller && caller.tenantId !== tenantId) throw forbidden('Texts are resolved in the own tenant only.');
    const asked = cultureName === '' ? undefined : canonicalCulture(cultureName);
    if (cultureName !== '' && asked === undefined) throw invalid({ cultureName: 'Format' });

    const known = await texts.cultures(tenantId);
    const wishes = { asked, preferred: undefined, acceptLanguage: undefined };
    const culture = chooseCulture(wishes, (candidate) => known.has(candidate));
    const { resources } = await texts.read(tenantId, culture);
    return {
      cultureName: culture,
      texts: request.resources.flatMap(({ resourceName, keys }) => {
        const resource = resources[resourceName] ?? {};
        const wanted = keys.length > 0 ? keys : Object.keys(resource);
        return wanted
          .filter((key) => resource[key] !== undefined)
          .map((key) => ({ resourceName, key, value: resource[key]! }));
      }),
    };
  });

  const questions = {
    definition: protoPackages.localization.v1.Localization.service,
    handlers: { ResolveTexts },
  };
  if (!pool) return [questions];
  const exchange = serveExchange(
    protoPackages.exchange.v1.ExchangeOwner.service,
    [overridesExchange(base, announce)],
    { config, log, pool },
  );
  return [questions, exchange];
}
