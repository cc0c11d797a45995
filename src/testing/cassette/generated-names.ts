import { stableStringify } from "../../base/json.ts";
import { OWN_PREFIX } from "../../openai/workspace/python-snippets.ts";
import type { RecordedRequest } from "./recorded-exchange.ts";

/** A request whose generated names are replaced by their numbers, as JSON, and the names in order. */
export interface RequestShape {
  readonly text: string;
  readonly names: readonly string[];
}

/**
 * The names that this package generates at random: uploads of a workspace, and the session's id in the name of its
 * container. All names of a kind have the same length.
 */
const GENERATED = new RegExp(
  `${OWN_PREFIX}[0-9a-f]{16}|(?<=weakincentives )[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
  "g",
);

/** Returns a request in the form in which it is compared: with sorted keys, and without generated names. */
export function toRequestShape(request: RecordedRequest): RequestShape {
  const names: string[] = [];
  const text = stableStringify(request).replace(GENERATED, (name) => {
    if (!names.includes(name)) names.push(name);
    return `<generated name ${names.indexOf(name) + 1}>`;
  });
  return { text, names };
}

/** The names that a replayed run generates in place of the recorded ones. */
export class GeneratedNames {
  readonly #recorded = new Map<string, string>();
  readonly #current = new Map<string, string>();

  /** Whether each current name can replace the recorded name at the same place. */
  canPair(recorded: readonly string[], current: readonly string[]): boolean {
    return recorded.every((old, index) => {
      const name = current[index] ?? "";
      return (this.#current.get(old) ?? name) === name && (this.#recorded.get(name) ?? old) === old;
    });
  }

  /** Replaces each recorded name by the current name at the same place from now on. */
  pair(recorded: readonly string[], current: readonly string[]): void {
    for (const [index, old] of recorded.entries()) {
      const name = current[index] ?? old;
      this.#current.set(old, name);
      this.#recorded.set(name, old);
    }
  }

  /** Replaces recorded names in a response by the current ones. The length stays the same. */
  toCurrent(bytes: Uint8Array): Uint8Array {
    const changed = [...this.#current].filter(([old, name]) => old !== name);
    if (changed.length === 0) return bytes;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const current = text.replace(GENERATED, (old) => this.#current.get(old) ?? old);
    return Buffer.from(current, "latin1");
  }
}
