/** The bytes of one file, until it is stored or refused. */
interface Arrival {
  /** Counts more of it. Where there is no room it ends, so that as many others of the tenant fit as there is room for. */
  add(bytes: number): void;
  end(): void;
}

/** How much of files that are not counted as stored yet has come from clients and exports, of each tenant. */
export class ArrivingBytes {
  private readonly byTenant = new Map<string, number>();

  /** @param requireRoom throws where there is none for the bytes of all files of the tenant that arrive now */
  begin(tenantId: string, requireRoom: (bytes: number) => void): Arrival {
    let own = 0;
    const end = (): void => {
      this.change(tenantId, -own);
      own = 0;
    };
    const add = (bytes: number): void => {
      own += bytes;
      const arriving = this.change(tenantId, bytes);
      try {
        requireRoom(arriving);
      } catch (error) {
        end();
        throw error;
      }
    };
    return { add, end };
  }

  private change(tenantId: string, bytes: number): number {
    const sum = (this.byTenant.get(tenantId) ?? 0) + bytes;
    if (sum > 0) this.byTenant.set(tenantId, sum);
    else this.byTenant.delete(tenantId);
    return sum;
  }
}
