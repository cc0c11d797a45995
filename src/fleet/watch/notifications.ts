import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { warn } from "../../base/warn.ts";
import type { FleetConnection, FleetDatabase } from "../database/fleet-database.ts";

/** Called for each message, and after each reconnection, when messages may have been missed: then with `null`. */
export type MessageListener = (message: Readonly<Record<string, unknown>> | null) => void;

/**
 * The messages of the database to all processes of a fleet. They only save time: everything they announce is also found
 * by polling. The connection is opened for the first listener, and again when it is lost.
 */
export class Notifications {
  readonly #database: FleetDatabase;
  readonly #channel: string;
  readonly #listeners = new Set<MessageListener>();
  #connection: Promise<FleetConnection | null> | null = null;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(database: FleetDatabase, channel: string) {
    this.#database = database;
    this.#channel = channel;
  }

  /** Whether the fleet was closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Adds a listener until the result is disposed. */
  subscribe(listener: MessageListener): Disposable {
    this.#listeners.add(listener);
    this.#connect();
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Resolves at the next message that `isAwaited`, after `milliseconds`, or when the signal aborts. Never rejects. */
  async wait(
    milliseconds: number,
    { isAwaited, signal }: { isAwaited(message: object | null): boolean; signal: AbortSignal },
  ): Promise<void> {
    if (signal.aborted || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        subscription[Symbol.dispose]();
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      const subscription = this.subscribe((message) => {
        if (isAwaited(message)) finish();
      });
      signal.addEventListener("abort", finish);
    });
  }

  /** Closes the connection, and ends all waits. Nothing is received after it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deliver(null);
    this.#listeners.clear();
    if (this.#timer) clearTimeout(this.#timer);
    const connection = await this.#connection?.catch(() => null);
    await connection?.close();
  }

  #connect(): void {
    if (this.#connection || this.#isClosed) return;
    this.#connection = this.#open();
    this.#connection.catch((error: unknown) => {
      warn("The fleet's notifications are interrupted; polling continues", error);
      this.#retryLater();
    });
  }

  async #open(): Promise<FleetConnection | null> {
    const connection = await this.#database.connect();
    if (!connection) return null;
    void connection.ended.then(() => this.#retryLater());
    try {
      await connection.listen(this.#channel, (payload) => this.#deliver(parseMessage(payload)));
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#deliver(null);
    return connection;
  }

  #retryLater(): void {
    if (this.#isClosed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#connection = null;
      if (this.#listeners.size > 0) this.#connect();
    }, RECONNECT_MS);
    this.#timer.unref();
  }

  #deliver(message: Readonly<Record<string, unknown>> | null): void {
    for (const listener of [...this.#listeners]) listener(message);
  }
}

const RECONNECT_MS = 1_000;

function parseMessage(payload: string): Readonly<Record<string, unknown>> {
  const parsed = parseJson(payload);
  return parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
}
