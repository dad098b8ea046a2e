import { Problem, unavailable } from '@plinth/kernel/problem';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { currentWork } from '../process/current-work';
import { FairPlaces } from '../process/fair-places';

/** What row-level security reads: the tenant whose rows show, or that the platform works for itself. */
export type Scope = readonly [setting: 'plinth.tenant_id' | 'plinth.scope', value: string];

/**
 * How many times the free connections a tenant may hold. Alone it has two thirds of the pool, and the next tenant, however
 * long the first one's transactions take, finds one that is free.
 */
const TIMES_FREE = 2;
const THE_PLATFORM = { tenantId: 'platform', userId: '' };
const IN_THE_PLATFORM: Scope = ['plinth.scope', 'platform'];

/** As Postgres says it, so that whoever asks whether the database failed learns it of this pool too. */
const TOO_MANY_CONNECTIONS = '53300';
const noConnection = (): Error =>
  Object.assign(new Error('No connection of the pool was free in time.'), { code: TOO_MANY_CONNECTIONS });

export interface FairPoolOptions extends PoolConfig {
  /** How many connections tenants share. */
  tenantConnections: number;
  /** How many there are besides, for the platform's own work. */
  platformConnections: number;
  /** How long one waits for a connection that others hold. */
  patienceMilliseconds: number;
  /** How long the server may be silent where it should answer at once. */
  silenceMilliseconds: number;
}

/**
 * Connections to a service's database, shared fairly between tenants: a tenant that takes all it can leaves some to the
 * others, and who waits gets the next one by tenant in turn. The platform's own work, without which no event leaves and
 * no process is ready, has connections of its own. ADR 0041.
 */
export class FairPool extends Pool {
  readonly tenantPlaces: FairPlaces;
  readonly platformPlaces: FairPlaces;
  readonly silenceMilliseconds: number;
  private readonly closedAfterUse = new WeakSet<PoolClient>();

  constructor(options: FairPoolOptions) {
    const { tenantConnections, platformConnections, patienceMilliseconds, silenceMilliseconds, ...config } =
      options;
    super({ ...config, max: tenantConnections + platformConnections });
    this.silenceMilliseconds = silenceMilliseconds;
    const refused = () => unavailable('Too many requests wait for the database; try again.', noConnection());
    const waiting = { waitingMax: Infinity, patienceMilliseconds, refused };
    this.tenantPlaces = new FairPlaces({ ...waiting, places: tenantConnections, timesFree: TIMES_FREE });
    // Nobody shares them, so that all may be taken.
    this.platformPlaces = new FairPlaces({ ...waiting, places: platformConnections, timesFree: Infinity });
  }

  /**
   * Takes a connection for a transaction in a scope; its `release` gives it to who is next. Nobody waits for it any more
   * when the request it is for was given up.
   * @throws Problem `overloaded` where none was free in time
   */
  async connectFor([setting, value]: Scope): Promise<PoolClient> {
    const { isPlatform, signal } = currentWork();
    const isOwn = isPlatform || setting === 'plinth.scope';
    const places = isOwn ? this.platformPlaces : this.tenantPlaces;
    const owner = isOwn ? THE_PLATFORM : { tenantId: value, userId: '' };
    if (!places.tryEnter(owner)) await places.wait(owner, isOwn ? undefined : signal).catch(toProblem);
    try {
      const connection = await super.connect();
      const release = connection.release.bind(connection);
      connection.release = (error) => {
        // First the connection, so that who is next does not open another one.
        release(error ?? this.closedAfterUse.has(connection));
        places.leave(owner);
      };
      return connection;
    } catch (error) {
      places.leave(owner);
      throw error;
    }
  }

  /** Has a connection closed once it is released, so that its place is for a new one. */
  closeAfterUse(connection: PoolClient): void {
    this.closedAfterUse.add(connection);
  }

  /** A connection that is taken for no tenant is for the platform's own work, such as its checks. */
  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    const connecting = this.connectFor(IN_THE_PLATFORM);
    if (!callback) return connecting;
    // So does `query` of this pool.
    connecting.then(
      (connection) => callback(undefined, connection, connection.release),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }
}

type Connected = (
  error: Error | undefined,
  connection: PoolClient | undefined,
  release: PoolClient['release'],
) => void;

/** Who disconnected reads no response. */
function toProblem(reason: unknown): never {
  if (reason instanceof Problem) throw reason;
  throw new Problem('timed-out', 'The client disconnected before a connection was free.', { cause: reason });
}
