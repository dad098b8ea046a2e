/** The bytes of one upload, until it is stored or refused. */
interface Arrival {
  /** Returns those of all uploads of the tenant that arrive now. */
  add(bytes: number): number;
  end(): void;
}

/** How much of uploads that are not counted as files yet has arrived, of each tenant. */
export class ArrivingBytes {
  private readonly byTenant = new Map<string, number>();

  begin(tenantId: string): Arrival {
    let own = 0;
    return {
      add: (bytes) => {
        own += bytes;
        return this.change(tenantId, bytes);
      },
      end: () => {
        this.change(tenantId, -own);
        own = 0;
      },
    };
  }

  private change(tenantId: string, bytes: number): number {
    const sum = (this.byTenant.get(tenantId) ?? 0) + bytes;
    if (sum > 0) this.byTenant.set(tenantId, sum);
    else this.byTenant.delete(tenantId);
    return sum;
  }
}
