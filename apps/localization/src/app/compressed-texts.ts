import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);
const BYTES_MAX = 16_000_000;
/** Beside the texts and the key of an entry: objects of buffers and of the map. */
const ENTRY_BYTES = 1_000;

/**
 * Texts as they are sent compressed. Whoever begins to use the platform reads the same ones, so that they are compressed
 * once; what a key names never changes, and what was not read for the longest time is forgotten first.
 */
export class CompressedTexts {
  private readonly cached = new Map<string, Buffer>();
  /** By tenant and key: it is made in the tenant's share, for whose end no other one waits. */
  private readonly compressing = new Map<string, Promise<Buffer>>();
  private size = 0;

  constructor(private readonly bytesMax = BYTES_MAX) {}

  /**
   * The compressed JSON of what a key names; `write` is called when it is not known, and when that of another request
   * of the tenant failed, whose client may have disconnected.
   */
  async of(key: string, tenantId: string, write: () => Promise<Buffer>): Promise<Buffer> {
    const name = `${tenantId} ${key}`;
    for (;;) {
      const known = this.cached.get(key);
      if (known) {
        this.cached.delete(key);
        this.cached.set(key, known);
        return known;
      }
      const compressing = this.compressing.get(name);
      if (!compressing) return this.add(key, name, write);
      const bytes = await compressing.catch(() => undefined);
      if (bytes) return bytes;
    }
  }

  private async add(key: string, name: string, write: () => Promise<Buffer>): Promise<Buffer> {
    const compressing = write().then((json) => compress(json));
    this.compressing.set(name, compressing);
    try {
      // A copy of their own: what compresses returns a part of a buffer of 64 KiB, all of which would stay in memory.
      const bytes = Buffer.from(new Uint8Array(await compressing).buffer);
      this.remove(key);
      this.cached.set(key, bytes);
      this.size += sizeOf(key, bytes);
      this.forget();
      return bytes;
    } finally {
      this.compressing.delete(name);
    }
  }

  private forget(): void {
    for (const key of this.cached.keys()) {
      if (this.size <= this.bytesMax) return;
      this.remove(key);
    }
  }

  private remove(key: string): void {
    const bytes = this.cached.get(key);
    if (!bytes) return;
    this.cached.delete(key);
    this.size -= sizeOf(key, bytes);
  }
}

/** Characters of a key take two bytes where one of them is not Latin. */
const sizeOf = (key: string, bytes: Buffer): number => ENTRY_BYTES + 2 * key.length + bytes.length;
