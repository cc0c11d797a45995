import { warn } from "../../base/warn.ts";
import type { FleetConnection } from "../database/fleet-database.ts";
import type { FleetParts } from "../fleet-parts.ts";

/** A lock in the database that is free as soon as this process has ended. Other workers notice within a second. */
export class Presence {
  readonly #parts: Pick<FleetParts, "database" | "workers">;
  readonly #onLost: () => void;
  #connection: FleetConnection | null = null;
  #isClosed = false;

  /** `onLost` is called when the connection is lost: others may take over this worker's runs. */
  constructor(parts: Pick<FleetParts, "database" | "workers">, onLost: () => void) {
    this.#parts = parts;
    this.#onLost = onLost;
  }

  /** Takes the lock of a worker. Does nothing if the database has no lasting connections: heartbeats decide then. */
  async open(worker: number): Promise<void> {
    if (!this.#parts.database.isShared) return;
    const connection = await this.#parts.database.connect();
    if (!connection) return;
    this.#connection = connection;
    void connection.ended.then(() => {
      if (!this.#isClosed) this.#onLost();
    });
    await this.#parts.workers.lockPresence(connection, worker);
  }

  /** Returns whether the lock of a worker is still held, as far as can be seen. */
  async isHeld(worker: number): Promise<boolean> {
    const connection = this.#connection;
    if (!connection || this.#isClosed) return true;
    try {
      return await this.#parts.workers.hasPresence(connection, worker);
    } catch {
      return true; // the connection is lost: `onLost` is called
    }
  }

  /** Gives the lock back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#connection?.close();
    } catch (error) {
      warn("A worker's connection could not be closed", error);
    }
  }
}
