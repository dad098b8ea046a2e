import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);
const BYTES_MAX = 16_000_000;

interface Cached {
  compressing: Promise<Buffer>;
  /** In bytes, with its key; zero while it is compressed. */
  size: number;
}

/**
 * Texts as they are sent compressed. Whoever begins to use the platform reads the same ones, so that they are compressed
 * once; what a key names never changes, and what was not read for the longest time is forgotten first.
 */
export class CompressedTexts {
  private readonly cached = new Map<string, Cached>();
  private size = 0;

  constructor(private readonly bytesMax = BYTES_MAX) {}

  /**
   * The compressed JSON of what a key names; `write` is called when it is not known, and when that of another caller
   * failed, who may have disconnected.
   */
  async of(key: string, write: () => Promise<Buffer>): Promise<Buffer> {
    for (;;) {
      const known = this.cached.get(key);
      if (!known) return this.add(key, write);
      this.cached.delete(key);
      this.cached.set(key, known);
      const bytes = await known.compressing.catch(() => undefined);
      if (bytes) return bytes;
    }
  }

  private async add(key: string, write: () => Promise<Buffer>): Promise<Buffer> {
    const added: Cached = { compressing: write().then((json) => compress(json)), size: 0 };
    this.cached.set(key, added);
    try {
      const bytes = await added.compressing;
      added.size = key.length + bytes.length;
      this.size += added.size;
      this.forget();
      return bytes;
    } catch (error) {
      this.cached.delete(key);
      throw error;
    }
  }

  private forget(): void {
    for (const [key, { size }] of this.cached) {
      if (this.size <= this.bytesMax) return;
      if (size === 0) continue;
      this.cached.delete(key);
      this.size -= size;
    }
  }
}
