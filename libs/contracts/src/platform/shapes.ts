import { z } from 'zod';
import { Id } from '../schemas';

/** Who a credential stands for, in the tenant of the request. */
export const CallerResponse = z
  .object({
    userId: z.string(),
    userName: z.string(),
    tenantId: z.guid(),
    tenantName: z.string().nullable().meta({ description: 'Null for a tenant without a configured name' }),
    permissions: z.array(z.string()).meta({ description: 'Granted permissions; `*` stands for all' }),
  })
  .meta({ id: 'CallerResponse' });

const OpenIdSignIn = z.object({
  issuer: z.url(),
  clientId: z.string(),
  scope: z.string(),
  parameters: z
    .record(z.string(), z.string())
    .meta({ description: 'Further parameters of the authorization request, such as `resource`' }),
});

const DevelopmentSignIn = z.object({
  tenants: z.array(z.object({ id: Id, shortName: z.string(), name: z.string() })),
});

/** How the console signs people in. */
export const ConsoleConfiguration = z
  .object({
    openId: OpenIdSignIn.nullable().meta({
      description: 'Authorization code flow with PKCE; null where no issuer is configured',
    }),
    development: DevelopmentSignIn.nullable().meta({
      description: 'Where `/dev/token` issues tokens to everybody; null in production',
    }),
  })
  .meta({ id: 'ConsoleConfiguration' });
