/**
 * Statements that go out in one turn of the event loop are one message with one answer.
 *
 * Each answer of Postgres is a write to a socket and wakes this process, so what is sent together ends in one `Sync`,
 * behind which Postgres answers once. Of a message in which a statement fails it leaves out the rest. A transaction that is
 * one message needs neither `BEGIN` nor `COMMIT`: what comes before a `Sync` is a transaction of its own (Postgres,
 * "Pipelining").
 */
import pg, { type Connection, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { statementName } from './statement-names';

/** What `pg` sends and how it tells of the answer; its types have next to nothing of it. */
declare class Query {
  text: string;
  name: string | undefined;
  values: readonly unknown[] | undefined;
  queryMode: 'extended';
  _result: { _types: QueryConfig['types'] };
  constructor(text: string, onAnswer?: (error: Error | null, result: QueryResult) => void);
  submit(connection: Connection): Error | null;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: Connection): void;
  handleEmptyQuery(connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
const PgQuery = pg.Query as unknown as typeof Query;
type PgConnection = Connection & { submittedNamedStatements: Record<string, string> };

/** What Postgres says of each statement behind one that failed in its transaction. */
export const BEHIND_A_FAILURE = '25P02';

export const BEGIN = 'BEGIN';
export const COMMIT = 'COMMIT';

/** One query for `pg`, which is whatever statement is being answered. */
class StatementMessage extends PgQuery {
  private readonly statements: Query[] = [];
  /** Of the statement that is answered next. */
  private place = 0;
  private hasFailed = false;

  constructor() {
    super('');
  }

  add({ text, name = statementName(text), values = [], types }: QueryConfig): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const statement = new PgQuery(text, (error, result) => {
        if (!error) return resolve(result);
        this.hasFailed = true;
        reject(error);
      });
      // The constructor would copy these as properties of an object, which takes longer than all else here.
      Object.assign(statement, { name, values, queryMode: 'extended' });
      statement._result._types = types;
      this.statements.push(statement);
    });
  }

  get beginsTransaction(): boolean {
    return this.statements[0]?.text === BEGIN;
  }

  override submit(connection: Connection): null {
    const { statements } = this;
    const isWhole = this.beginsTransaction && statements.at(-1)!.text === COMMIT;
    const [first, end] = isWhole ? [1, statements.length - 1] : [0, statements.length];
    const framed = withoutSync(connection);
    connection.stream.cork();
    for (const statement of statements.slice(first, end)) {
      const refusal = statement.submit(framed);
      if (refusal) statement.handleError(refusal, connection);
    }
    // A statement that cannot be written, by a fault of ours, must not leave those before it committed.
    if (this.hasFailed) connection.stream.destroy();
    connection.sync();
    connection.stream.uncork();
    this.goTo(first);
    return null;
  }

  override handleRowDescription(message: object): void {
    this.statements[this.place]!.handleRowDescription(message);
  }

  override handleDataRow(message: object): void {
    this.statements[this.place]!.handleDataRow(message);
  }

  override handleCommandComplete(message: object, connection: Connection): void {
    this.statements[this.place]!.handleCommandComplete(message, connection);
    this.goTo(this.place + 1);
  }

  override handleEmptyQuery(): void {
    this.goTo(this.place + 1);
  }

  override handleReadyForQuery(connection: Connection): void {
    for (const statement of this.statements) statement.handleReadyForQuery(connection);
  }

  override handleError(error: Error, connection: Connection): void {
    const [failed, ...behind] = this.statements.splice(this.place);
    this.handleReadyForQuery(connection);
    failed?.handleError(error, connection);
    const leftOut = Object.assign(new Error('A statement before this one failed.'), {
      code: BEHIND_A_FAILURE,
    });
    for (const statement of behind) {
      // Postgres did not prepare it either.
      if (statement.name) delete (connection as PgConnection).submittedNamedStatements[statement.name];
      statement.handleError(leftOut, connection);
    }
  }

  /** `pg` remembers what a connection has prepared by the name and the text of what is being answered. */
  private goTo(place: number): void {
    this.place = place;
    this.name = this.statements[place]?.name;
    this.text = this.statements[place]?.text ?? '';
  }
}

const framedConnections = new WeakMap<Connection, Connection>();

/** The same connection, for statements that do not end their message. */
function withoutSync(connection: Connection): Connection {
  let framed = framedConnections.get(connection);
  if (!framed) {
    framed = Object.assign(Object.create(connection) as Connection, { sync: () => undefined });
    framedConnections.set(connection, framed);
  }
  return framed;
}

const openMessages = new WeakMap<PoolClient, StatementMessage>();

/**
 * Sends a statement with all that is sent on this connection in the same turn of the event loop, in their order. The
 * connection has to be of a pool with `pipeline`.
 */
export function sendInMessage(connection: PoolClient, statement: QueryConfig): Promise<QueryResult> {
  let message = openMessages.get(connection);
  if (!message) {
    message = new StatementMessage();
    openMessages.set(connection, message);
    process.nextTick(closeMessage, connection, message);
  }
  return message.add(statement);
}

/** Whether all that was sent since the transaction of this connection began will go out in one message. */
export const beginsOpenMessage = (connection: PoolClient): boolean =>
  openMessages.get(connection)?.beginsTransaction ?? false;

function closeMessage(connection: PoolClient, message = openMessages.get(connection)): void {
  if (!message || openMessages.get(connection) !== message) return;
  openMessages.delete(connection);
  connection.query(message);
}

/** Has what runs on a connection by itself, such as a statement of Prisma, come behind what was sent before. */
export function keepOrder(connection: PoolClient): void {
  const query = connection.query.bind(connection) as (...values: unknown[]) => unknown;
  connection.query = ((...values: unknown[]) => {
    closeMessage(connection);
    return query(...values);
  }) as typeof connection.query;
}
