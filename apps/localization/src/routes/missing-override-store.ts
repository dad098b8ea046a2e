import type { Endpoint, Endpoints } from '@plinth/contracts/endpoint';
import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import type { Api } from '@plinth/http/api';
import { overrideStoreMissing } from '../domain/problems';

const { getLocalization, ...overrideEndpoints } = localizationEndpoints;

/** The endpoints of overrides without their shapes: in an installation without overrides no request is parsed. */
const endpointsOfOverrides = Object.entries<Endpoint>(overrideEndpoints).map(
  ([name, { params: _params, query: _query, body: _body, ...endpoint }]) => [name, endpoint] as const,
);
export const endpointsWithoutStore: Endpoints = {
  getLocalization,
  ...Object.fromEntries(endpointsOfOverrides),
};

export function mountMissingStore(api: Api): void {
  for (const [, endpoint] of endpointsOfOverrides) {
    api.on(endpoint, () => {
      throw overrideStoreMissing();
    });
  }
}
