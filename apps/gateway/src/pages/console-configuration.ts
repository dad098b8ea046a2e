import type { ConsoleConfiguration } from '@plinth/contracts/platform/shapes';
import type { z } from 'zod';
import type { GatewayConfig } from '../config';
import { HOST_TENANT } from '../identity/tenants';

/** What the console may know before anybody has signed in. */
export const consoleConfiguration = (config: GatewayConfig): z.input<typeof ConsoleConfiguration> => ({
  openId:
    config.OIDC_ISSUER === undefined
      ? null
      : {
          issuer: config.OIDC_ISSUER,
          clientId: config.CONSOLE_CLIENT_ID,
          scope: config.CONSOLE_SCOPE,
          parameters: config.CONSOLE_AUTHORIZATION_PARAMETERS,
        },
  development: config.DEV_ISSUER
    ? {
        tenants: [...config.PLINTH_TENANTS, HOST_TENANT].map(({ id, shortName, name }) => ({
          id,
          shortName,
          name,
        })),
      }
    : null,
});
