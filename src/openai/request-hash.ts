import { sha256 } from "../base/sha256.ts";

/** Computes a SHA-256 from parts: natively on Node, otherwise in JavaScript. */
export class RequestHash {
  readonly #native: NativeHash | null;
  readonly #parts: Uint8Array[] = [];

  constructor(native: NativeHash | null = createNativeHash()) {
    this.#native = native;
  }

  /** Adds bytes, or text as UTF-8. Bytes may be changed after that. */
  update(part: string | Uint8Array): this {
    if (this.#native) this.#native.update(part);
    else this.#parts.push(typeof part === "string" ? new TextEncoder().encode(part) : part.slice());
    return this;
  }

  /** Returns a hash that continues from here, independently. */
  copy(): RequestHash {
    const copy = new RequestHash(this.#native?.copy() ?? null);
    copy.#parts.push(...this.#parts);
    return copy;
  }

  /** Returns the hash as lowercase hexadecimal. Can be called once. */
  digest(): string {
    return this.#native ? this.#native.digest("hex") : sha256(joinBytes(this.#parts));
  }
}

/** The part of `Hash` in `node:crypto` that is used. */
interface NativeHash {
  update(part: string | Uint8Array): unknown;
  copy(): NativeHash;
  digest(encoding: "hex"): string;
}

function createNativeHash(): NativeHash | null {
  const { process } = globalThis as { process?: Partial<Pick<NodeJS.Process, "getBuiltinModule">> };
  return process?.getBuiltinModule?.("node:crypto")?.createHash("sha256") ?? null;
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
