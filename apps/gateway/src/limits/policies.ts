import { z } from 'zod';

/** Requests a minute for each user, each tenant, and each address that shows no credential. */
const Limits = z.object({ user: z.int().min(1), tenant: z.int().min(1), address: z.int().min(1) });

export type Limits = z.infer<typeof Limits>;
export type Scope = keyof Limits;

/** A second, on average: 20 requests of a user, 200 of a tenant, 5 of an address without a credential. */
export const defaultLimits: Limits = { user: 1_200, tenant: 12_000, address: 300 };

/** The limits of each class of endpoints; classes without limits of their own share those of the default. */
export type RateLimits = ReadonlyMap<string, Limits>;

/** `{"default": {"user": 600}, "expensive": {"user": 60}}`; limits that are left out have their defaults, of expensive endpoints a quarter. */
export const RateLimits = z.record(z.string(), Limits.partial()).transform((classes): RateLimits => {
  const byDefault = merge(defaultLimits, classes['default']);
  const named = Object.entries(classes).map(([name, limits]) => [name, merge(byDefault, limits)] as const);
  const expensive = merge(quarterOf(byDefault), classes['expensive']);
  return new Map([['default', byDefault], ...named, ['expensive', expensive]]);
});

const quarterOf = ({ user, tenant, address }: Limits): Limits => ({
  user: Math.ceil(user / 4),
  tenant: Math.ceil(tenant / 4),
  address: Math.ceil(address / 4),
});

const merge = (left: Limits, right: z.infer<ReturnType<typeof Limits.partial>> = {}): Limits => ({
  user: right.user ?? left.user,
  tenant: right.tenant ?? left.tenant,
  address: right.address ?? left.address,
});

/** Whose requests are counted. */
export type Subject = { userId: string; tenantId: string } | { address: string };

/** One counter that a request has to pass. */
export interface Quota {
  key: string;
  scope: Scope;
  limit: number;
}

export const WINDOW_SECONDS = 60;

/** All counters that a request has to pass. */
export interface Policy {
  quotas: readonly Quota[];
  /** What its client is told of them, in `RateLimit-Policy`. */
  description: string;
}

/** Decides what counts the requests of whom. */
export class Policies {
  /** By class: a known caller asks many times. */
  private readonly ofCallers = new WeakMap<Subject, Map<string, Policy>>();

  constructor(private readonly limitsByClass: RateLimits) {}

  /** The counters of a request: those of the user and the tenant of a known caller, else that of the address. */
  of(subject: Subject, rateClass: string): Policy {
    if ('address' in subject) return this.policyOf(subject, rateClass);
    let byClass = this.ofCallers.get(subject);
    if (!byClass) this.ofCallers.set(subject, (byClass = new Map()));
    let policy = byClass.get(rateClass);
    if (!policy) byClass.set(rateClass, (policy = this.policyOf(subject, rateClass)));
    return policy;
  }

  private policyOf(subject: Subject, rateClass: string): Policy {
    const name = this.limitsByClass.has(rateClass) ? rateClass : 'default';
    const quotas = quotasOf(subject, name, this.limitsByClass.get(name)!);
    const described = quotas.map(({ scope, limit }) => `"${scope}";q=${limit};w=${WINDOW_SECONDS}`);
    return { quotas, description: described.join(', ') };
  }
}

function quotasOf(subject: Subject, name: string, limits: Limits): Quota[] {
  if ('address' in subject) {
    return [{ key: `${name}:a:${networkOf(subject.address)}`, scope: 'address', limit: limits.address }];
  }
  const { tenantId, userId } = subject;
  return [
    { key: `${name}:u:${tenantId}:${userId}`, scope: 'user', limit: limits.user },
    { key: `${name}:t:${tenantId}`, scope: 'tenant', limit: limits.tenant },
  ];
}

/** An IPv6 customer owns a whole network of 64 bits, so that is what counts as one address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.toLowerCase().split('%', 1)[0]!.split('::');
  const start = head.split(':').filter(Boolean);
  const end = tail.split(':').filter(Boolean);
  const gap = address.includes('::')
    ? Array<string>(Math.max(8 - start.length - end.length, 0)).fill('0')
    : [];
  return `${[...start, ...gap, ...end]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
