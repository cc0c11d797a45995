import type { SqlClient } from "../../stores/postgres/sql-client.ts";

/** A pool of connections to PostgreSQL: `Pool` of the package pg, or any object with the same methods. */
export interface PostgresPool extends SqlClient {
  /** Takes a connection out of the pool. */
  connect(): Promise<PostgresPoolClient>;
  /** Adds a listener for errors of connections that are not in use. */
  on?(event: "error", listener: (error: Error) => void): unknown;
  /** Removes a listener for errors of connections that are not in use. */
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** A connection that was taken out of a pool. */
export interface PostgresPoolClient extends PostgresClientEvents, SqlClient {
  /** Returns the connection to the pool, or closes it if there is an error. */
  release(error?: Error | boolean): void;
}

/** Events of a connection to PostgreSQL. */
export interface PostgresClientEvents {
  /** Adds a listener for the loss of the connection. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Adds a listener for the end of the connection. */
  on(event: "end", listener: () => void): unknown;
  /** Adds a listener for notifications on the channels that the connection listens to. */
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
}

/** A notification on a channel. */
export interface PostgresNotification {
  /** Name of the channel. */
  readonly channel: string;
  /** Text of the notification. */
  readonly payload?: string | undefined;
}
