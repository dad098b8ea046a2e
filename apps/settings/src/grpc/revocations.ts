/** Tells the gateways that watch this process which API keys were revoked. */
export class Revocations {
  private readonly watchers = new Set<(id: string) => void>();

  /** Calls back for every key that is revoked until the watcher is removed by the returned function. */
  watch(watcher: (id: string) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  send(id: string): void {
    for (const watcher of this.watchers) watcher(id);
  }
}
