/** Whose share something is. */
export interface ShareOwner {
  tenantId: string;
  userId: string;
}

/** Who has used up a share: the user, the tenant, or all of them together. */
export type ShareScope = 'user' | 'tenant' | 'all';

export interface FairSharesOptions {
  /** Whether a user may have less than its tenant; it may, unless this says no. */
  limitsUsers?: boolean;
  /**
   * How many times what is free a tenant may hold: alone it gets `timesFree / (timesFree + 1)` of everything. A function is
   * asked each time.
   */
  timesFree?: number | (() => number) | undefined;
}

/**
 * Shares something scarce, such as places or bytes, between tenants and their users, without knowing how many there are.
 * A tenant may hold as much as is free, a user half of that: alone, a tenant gets half of everything and a user a third;
 * beside one that takes all it can, the next tenant still finds half of the rest. An owner who holds nothing gets whatever
 * is free. With other `timesFree` a tenant may hold that many times what is free.
 */
export class FairShares {
  private used = 0;
  private readonly byTenant = new Map<string, { amount: number; byUser: Map<string, number> }>();

  private readonly limitsUsers: boolean;
  private readonly timesFree: () => number;

  /** @param total what there is to share */
  constructor(
    readonly total: number,
    { limitsUsers = true, timesFree = 1 }: FairSharesOptions = {},
  ) {
    this.limitsUsers = limitsUsers;
    this.timesFree = typeof timesFree === 'number' ? () => timesFree : timesFree;
  }

  get usedAmount(): number {
    return this.used;
  }

  get freeAmount(): number {
    return this.total - this.used;
  }

  usedByTenant(tenantId: string): number {
    return this.byTenant.get(tenantId)?.amount ?? 0;
  }

  usedByUser({ tenantId, userId }: ShareOwner): number {
    return this.byTenant.get(tenantId)?.byUser.get(userId) ?? 0;
  }

  /** Whether a tenant may take one more where so much is free. */
  mayTakeOne(tenantId: string, free: number): boolean {
    return free >= 1 && this.isWithinShare(this.usedByTenant(tenantId), 1, free);
  }

  /**
   * Takes an amount; where that is refused, takes nothing and returns whose share is used up.
   * @param held what was taken before for the same thing, so that in parts it may take as much as at once
   */
  take({ tenantId, userId }: ShareOwner, amount = 1, held = 0): ShareScope | undefined {
    const tenant = this.byTenant.get(tenantId);
    const ofTenant = tenant?.amount ?? 0;
    const ofUser = tenant?.byUser.get(userId) ?? 0;
    const free = this.freeAmount;
    if (amount > free) return 'all';
    if (ofTenant > held && !this.isWithinShare(ofTenant, amount, free)) return 'tenant';
    if (this.limitsUsers && ofUser > held && 2 * (ofUser + amount) > free) return 'user';
    this.used += amount;
    if (!tenant) this.byTenant.set(tenantId, { amount, byUser: new Map([[userId, amount]]) });
    else {
      tenant.amount += amount;
      tenant.byUser.set(userId, ofUser + amount);
    }
    return undefined;
  }

  /** Gives back what was taken. */
  give({ tenantId, userId }: ShareOwner, amount = 1): void {
    this.used -= amount;
    const tenant = this.byTenant.get(tenantId);
    if (!tenant) return;
    tenant.amount -= amount;
    if (tenant.amount <= 0) {
      this.byTenant.delete(tenantId);
      return;
    }
    const left = (tenant.byUser.get(userId) ?? 0) - amount;
    if (left > 0) tenant.byUser.set(userId, left);
    else tenant.byUser.delete(userId);
  }

  /** Who holds nothing may take whatever is free. */
  private isWithinShare(ofTenant: number, amount: number, free: number): boolean {
    return ofTenant === 0 || ofTenant + amount <= this.timesFree() * free;
  }
}
