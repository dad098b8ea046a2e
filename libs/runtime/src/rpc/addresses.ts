import { experimental, type ChannelOptions } from '@grpc/grpc-js';

const LOOK_UP_MILLISECONDS = 30_000;
const SCHEME = 'looked-up';

/** Options of channels whose addresses `lookedUp` makes. */
export const LOOK_UPS: ChannelOptions = {
  // Who has lost a connection asks for the name at once, however short a time ago it was looked up.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  // How calls are spread is ours to say, and no record of a name server's.
  'grpc.service_config_disable_resolution': 1,
};

/** The target of a channel that finds processes which are added later under the same name. */
export const lookedUp = (address: string): string => `${SCHEME}:${address}`;

/**
 * Looks a name up again and again. gRPC asks for it only where a connection was lost, so that processes that are added
 * beside others would get no call. Connections with an age are no way to it: those that end keep the calls that run, and
 * @grpc/grpc-js cuts them at its next ping (ADR 0048).
 */
class RepeatedLookUp implements experimental.Resolver {
  private readonly names: experimental.Resolver;
  private known: ReadonlySet<string> = new Set();
  private isAsked = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    { path }: experimental.GrpcUri,
    listener: experimental.ResolverListener,
    options: ChannelOptions,
  ) {
    const found: experimental.ResolverListener = (endpoints, ...more) => {
      // An address that is missing for once is no reason to end its calls: a connection says itself when it is lost.
      const isNews = endpoints.ok && endpoints.value.some((endpoint) => !this.known.has(textOf(endpoint)));
      if (!this.isAsked && !isNews) return true;
      this.isAsked = false;
      if (endpoints.ok) this.known = new Set(endpoints.value.map(textOf));
      return listener(endpoints, ...more);
    };
    this.names = experimental.createResolver({ scheme: 'dns', path }, found, options);
  }

  static getDefaultAuthority({ path }: experimental.GrpcUri): string {
    return path;
  }

  updateResolution(): void {
    this.isAsked = true;
    this.timer ??= setInterval(() => this.names.updateResolution(), LOOK_UP_MILLISECONDS).unref();
    this.names.updateResolution();
  }

  destroy(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.names.destroy();
  }
}

const textOf = experimental.endpointToString;

experimental.registerResolver(SCHEME, RepeatedLookUp);
