/** Headers that scripts of other origins may read. */
const EXPOSED = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Idempotency-Replayed',
  'X-Localization-Incomplete',
  'X-Request-Id',
  'X-Template-Missing-Variables',
  'X-Template-Warnings',
  'api-deprecated-versions',
  'api-supported-versions',
].join(', ');

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_VALID_SECONDS = 600;
const LOOPBACK_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::([1-9]\d{0,4}))?$/;

export interface CorsSettings {
  /** Exact origins; `*` only in development. */
  origins: readonly string[];
  credentials: boolean;
  /** Also allows every port of `localhost` and `127.0.0.1`. */
  development: boolean;
}

/** Decides which other origins may use the interface. An origin matches exactly or not at all. */
export class Cors {
  private readonly origins: ReadonlySet<string>;

  constructor(private readonly settings: CorsSettings) {
    this.origins = new Set(settings.origins);
  }

  allows(origin: string): boolean {
    if (this.origins.has('*') || this.origins.has(origin)) return true;
    const loopback = this.settings.development ? LOOPBACK_ORIGIN.exec(origin) : null;
    return loopback !== null && Number(loopback[1] ?? 80) <= 65_535;
  }

  /** Headers of a response to a request from this origin; `Vary` is added by the request context. */
  headers(origin: string | undefined): string[] {
    if (origin === undefined || !this.allows(origin)) return [];
    return [...this.allowing(origin), 'Access-Control-Expose-Headers', EXPOSED];
  }

  /** Headers of the response to a preflight: any method and any header, for the allowed origins. */
  preflight(origin: string, requestedHeaders: string | undefined): string[] {
    if (!this.allows(origin)) return [];
    return [
      ...this.allowing(origin),
      'Access-Control-Allow-Methods',
      METHODS,
      ...(requestedHeaders ? ['Access-Control-Allow-Headers', requestedHeaders] : []),
      'Access-Control-Max-Age',
      String(PREFLIGHT_VALID_SECONDS),
    ];
  }

  private allowing(origin: string): string[] {
    if (this.origins.has('*') && !this.settings.credentials) return ['Access-Control-Allow-Origin', '*'];
    return [
      'Access-Control-Allow-Origin',
      origin,
      ...(this.settings.credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
    ];
  }
}
