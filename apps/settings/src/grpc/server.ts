import { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { serveExchange } from '@plinth/exchange/serve-exchange';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden, malformed } from '@plinth/kernel/problem';
import { protoPackages } from '@plinth/proto/packages';
import type { RegisterDefinitionsRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/RegisterDefinitionsRequest';
import type { ResolveRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/ResolveRequest';
import type { ResolveResponse } from '@plinth/proto/generated/plinth/settings/v1/ResolveResponse';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Deps } from '../compose';
import { serveApiKeys } from './api-keys';
import { valuesExchange } from '../exchange/setting-values';

type Needs = Pick<
  Deps,
  | 'config'
  | 'log'
  | 'bulkPool'
  | 'definitions'
  | 'reader'
  | 'box'
  | 'valueChecks'
  | 'outbox'
  | 'apiKeys'
  | 'revocations'
  | 'health'
  | 'changeQuota'
>;

/** The calls that other services make of this one. */
export function grpcServices(deps: Needs): GrpcService[] {
  const { config, log, definitions, reader } = deps;
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const Resolve = unary<ResolveRequest__Output, ResolveResponse>(async (request, caller) => {
    if (caller && !isAboutCaller(request, caller))
      throw forbidden('Callers may resolve only their own settings.');
    const settings = await reader.resolve(request, request.names, caller);
    return {
      settings: settings.map(({ name, isSecret, value }) => ({
        name,
        isSecret,
        ...(value === null ? {} : { value }),
      })),
    };
  });

  const RegisterDefinitions = unary<RegisterDefinitionsRequest__Output, object>(async (request, caller) => {
    if (caller) throw forbidden('Only services may register definitions of settings.');
    await definitions.register(request.service, request.definitions.map(readDefinition));
    return {};
  });

  return [
    { definition: protoPackages.settings.v1.Settings.service, handlers: { Resolve, RegisterDefinitions } },
    serveApiKeys(deps),
    // Each imported value, of any number of users, is a change in a history.
    serveExchange([valuesExchange(deps)], { ...deps, importQuotas: { setting_value: deps.changeQuota } }),
  ];
}

/** Callers may resolve the settings of their tenant and their own. */
const isAboutCaller = (request: ResolveRequest__Output, caller: Caller): boolean =>
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
