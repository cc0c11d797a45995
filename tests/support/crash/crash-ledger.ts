import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** `waiting`: the call waits for approval. */
type ToolMoment = "waiting" | "started" | "effect" | "reconciled";

/** The effects of a scene, in any of its processes. The ledger is outside of the session. */
export type LedgerEntry =
  | { readonly what: "request"; readonly turn: number; readonly answers?: readonly string[] }
  | {
      readonly what: ToolMoment;
      readonly tool: string;
      readonly key: string;
    }
  | { readonly what: "event"; readonly type: string; readonly event: object };

/** The effects, requests and events of all processes of a scene, in order. */
export class CrashLedger {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, "ledger.jsonl");
  }

  /** Appends an entry. A process that is killed right after it has still written it. */
  add(entry: LedgerEntry): void {
    appendFileSync(this.#path, `${JSON.stringify(entry)}\n`);
  }

  read(): readonly LedgerEntry[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  /** Returns the keys of a tool's calls that waited, were started, took effect or were reconciled. */
  list(what: ToolMoment, tool: string): readonly string[] {
    return this.read().flatMap((entry) =>
      entry.what === what && entry.tool === tool ? [entry.key] : [],
    );
  }

  /** Returns the turns of the requests that were sent. */
  listRequests(): readonly number[] {
    return this.read().flatMap((entry) => (entry.what === "request" ? [entry.turn] : []));
  }

  /** Returns the texts of the last request for a turn: the answers of the previous turn's calls. */
  readAnswers(turn: number): readonly string[] {
    const requests = this.read().filter((entry) => entry.what === "request");
    return requests.findLast((entry) => entry.turn === turn)?.answers ?? [];
  }

  /** Returns the published events of a type. */
  listEvents(type: string): readonly Readonly<Record<string, unknown>>[] {
    return this.read().flatMap((entry) =>
      entry.what === "event" && entry.type === type
        ? [entry.event as Readonly<Record<string, unknown>>]
        : [],
    );
  }
}
