import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { isPlainObject } from "../../base/freeze.ts";

/** Encrypts content that only this server can read: reasoning and compactions between requests. */
export interface Sealer {
  /** Encrypts an object to a string. */
  seal(content: object): string;
  /** Decrypts a string; `null` if another key sealed it or it was modified. */
  open(text: string): Readonly<Record<string, unknown>> | null;
}

/** Creates a sealer that uses AES-256-GCM with a key of 32 bytes. */
export function sealer(
  key: Uint8Array,
  random: (bytes: number) => Uint8Array = randomBytes,
): Sealer {
  if (key.byteLength !== 32)
    throw new Error(`The key must be 32 bytes long, got ${key.byteLength}.`);
  const secret = Uint8Array.from(key);
  return {
    seal(content) {
      const nonce = random(nonceBytes);
      const cipher = createCipheriv(algorithm, secret, nonce).setAAD(version);
      const body = cipher.update(JSON.stringify(content), "utf8");
      const sealed = [nonce, body, cipher.final(), cipher.getAuthTag()];
      return prefix + Buffer.concat(sealed).toString("base64url");
    },
    open(text) {
      const sealed = decodeSealed(text);
      const opened = sealed && decrypt(sealed, secret);
      return opened === null ? null : parseRecord(opened);
    },
  };
}

/** What to do about sealed content that cannot be opened. Part of both APIs' error messages. */
export const SEALING_REMEDY: string =
  "It was changed, or the key that sealed it is gone: a LocalProvider without dataDir has a new key each time. " +
  "Pass the same dataDir to every LocalProvider of a session, or start a new conversation in a new Session.";

const algorithm = "aes-256-gcm";
const prefix = "wink1-";
const version = Buffer.from(prefix);
const nonceBytes = 12;
const tagBytes = 16;

/** Decodes strictly: Node's decoder would ignore invalid characters, so different strings would yield the same bytes. */
function decodeSealed(text: string): Buffer | null {
  if (!text.startsWith(prefix)) return null;
  const digits = text.slice(prefix.length);
  const bytes = Buffer.from(digits, "base64url");
  const isWhole = bytes.byteLength >= nonceBytes + tagBytes;
  return isWhole && bytes.toString("base64url") === digits ? bytes : null;
}

function decrypt(sealed: Buffer, key: Uint8Array): string | null {
  const nonce = sealed.subarray(0, nonceBytes);
  const body = sealed.subarray(nonceBytes, -tagBytes);
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv(algorithm, key, nonce, options).setAAD(version);
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
  } catch {
    return null; // the error only reports that the tag does not match
  }
}

function parseRecord(json: string): Readonly<Record<string, unknown>> | null {
  const content: unknown = JSON.parse(json);
  return isPlainObject(content) ? content : null;
}
