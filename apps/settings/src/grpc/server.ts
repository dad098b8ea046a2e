import { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { serveExchange } from '@plinth/conventions/exchange/serve-exchange';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden, malformed } from '@plinth/kernel/problem';
import { protoPackages } from '@plinth/proto/packages';
import type { RegisterDefinitionsRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/RegisterDefinitionsRequest';
import type { ResolveRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/ResolveRequest';
import type { ResolveResponse } from '@plinth/proto/generated/plinth/settings/v1/ResolveResponse';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';
import { resolve } from '../domain/cascade';
import { visibleValue } from '../domain/visible-value';
import { locksOf } from '../store/setting-store';
import { valuesExchange } from './exchange';

type Needs = Pick<
  Deps,
  'config' | 'log' | 'pool' | 'definitions' | 'settings' | 'snapshots' | 'box' | 'outbox'
>;

/** The questions of sibling services that this service answers. */
export function grpcServices(deps: Needs): GrpcService[] {
  const { config, log, definitions, settings, snapshots, box } = deps;
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const Resolve = unary<ResolveRequest__Output, ResolveResponse>(async (request, caller) => {
    if (caller && !isOfAsker(request, caller))
      throw forbidden('Settings are resolved for whoever asks only.');
    const all = await definitions.all();
    const names = request.names.length > 0 ? request.names : [...all.keys()];
    const snapshot = await snapshots.of(request.tenantId, request.userId);
    const wanted = names
      .map((name) => all.get(name))
      .filter((definition) => definition !== undefined)
      .filter(({ isVisibleToUsers }) => !caller || isVisibleToUsers);
    return {
      settings: wanted.map((definition) => {
        const { name, isSecret } = definition;
        const seenAt = request.userId === '' ? 'tenant' : 'user';
        const { value, source } = resolve(
          settings.levelValues(snapshot, definition),
          locksOf(snapshot, name),
          seenAt,
        );
        const isSealed = isSecret && ['User', 'Tenant', 'Global'].includes(source);
        const clear = value !== null && isSealed ? box.open(value) : value;
        const told = caller ? visibleValue(definition, value) : clear;
        return { name, isSecret, ...(told === null ? {} : { value: told }) };
      }),
    };
  });

  const RegisterDefinitions = unary<RegisterDefinitionsRequest__Output, object>(async (request, caller) => {
    if (caller) throw forbidden('Definitions are registered by services, not by people.');
    await definitions.register(request.service, request.definitions.map(readDefinition));
    return {};
  });

  return [
    { definition: protoPackages.settings.v1.Settings.service, handlers: { Resolve, RegisterDefinitions } },
    serveExchange(protoPackages.exchange.v1.ExchangeOwner.service, [valuesExchange(deps)], deps),
  ];
}

/** A person may have settings resolved for their tenant and for themselves. */
const isOfAsker = (request: ResolveRequest__Output, caller: Caller): boolean =>
  request.tenantId === caller.tenantId && ['', caller.userId].includes(request.userId);

function readDefinition(
  message: RegisterDefinitionsRequest__Output['definitions'][number],
): SettingDefinition {
  const result = SettingDefinition.safeParse({
    ...message,
    defaultValue: message.defaultValue ?? null,
    schema: JSON.parse(message.schema || '{}'),
  });
  if (!result.success)
    throw malformed(`The definition "${message.name}" is not usable: ${result.error.message}`);
  return result.data;
}
