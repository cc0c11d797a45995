import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** Something that happened outside of the fleet. A process that is killed right after it has still written it. */
export type Effect =
  /** The model has received a request: its turn is paid for. */
  | { readonly what: "turn"; readonly run: number; readonly turn: number }
  /** A call of the tool `charge` (`once`) or `note` (`idempotent`) took effect. */
  | {
      readonly what: "charge" | "note";
      readonly run: number;
      readonly step: number;
      readonly key: string;
    };

/** The effects of all processes of a storm, in a file: it also outlives a crash of the database. */
export class EffectsFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  add(effect: Effect): void {
    appendFileSync(this.#path, `${JSON.stringify(effect)}\n`);
  }

  read(): readonly Effect[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }
}
