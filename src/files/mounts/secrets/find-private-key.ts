import { isDerKey } from "./is-der-key.ts";

/** The number of bytes at the start of a file in which a private key is found. */
export const KEY_HEAD_BYTES: number = 16 * 1024;

/**
 * Returns the kind of private key that a file begins with or contains as a block near its start, or `null`. A header
 * counts at the start of a line and with key material after it, so that code and prose about keys are not withheld.
 */
export function findPrivateKey(head: Buffer): string | null {
  const kind = findBinaryKey(head);
  if (kind !== null) return kind;
  const bytes = removeByteOrderMark(head);
  if (bytes[0] === BRACE && bytes.includes('"kty"') && JWK.test(bytes.toString("latin1"))) {
    return "a private JSON web key";
  }
  // One search decides for almost all files, because this runs for each of them.
  if (!bytes.includes(KEY)) return bytes[0] === P ? findPuttyKey(bytes) : null;
  const text = bytes.toString("latin1");
  if (text.includes("PRIVATE KEY")) {
    if (hasKeyBlock(text)) return "a private key";
    if (SERVICE_ACCOUNT.test(text)) return "the private key of a service account";
  }
  return text.includes("AGE-SECRET-KEY-") && AGE_KEY.test(text)
    ? "a secret key of age"
    : findPuttyKey(bytes);
}

function findPuttyKey(bytes: Buffer): string | null {
  return PUTTY_KEY.test(bytes.toString("latin1", 0, 64)) ? "a private key of PuTTY" : null;
}

const KEY = Buffer.from("KEY");
const P = 0x50;
const BRACE = 0x7b;

/** The header of PEM, OpenSSH, PGP and SSH2, alone on a line that may be indented or quoted. */
const HEADER =
  /(?:^|[\r\n])[ \t>]*-{4,5} ?BEGIN (?:[A-Z0-9 ]{1,30} )?PRIVATE KEY(?: BLOCK)? ?-{4,5}[ \t]*(?=[\r\n])/g;
/** The first lines after a header: fields such as `Proc-Type: 4,ENCRYPTED`, then at least 16 characters of the key. */
const BODY = /^(?:[\s>]*[A-Za-z][\w-]{0,40}: ?[^\r\n]{0,200}[\r\n]){0,8}[\s>]*[A-Za-z0-9+/]{16}/;
const SERVICE_ACCOUNT =
  /"private_key"\s*:\s*"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\\n[A-Za-z0-9+/]{16}/;
const AGE_KEY = /(?:^|[\r\n])[ \t]*AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20}/;
const PUTTY_KEY = /^PuTTY-User-Key-File-\d: /;
const JWK = /"d"\s*:\s*"[A-Za-z0-9_-]{32,}/;

function hasKeyBlock(text: string): boolean {
  for (const { index, 0: header } of text.matchAll(HEADER)) {
    const start = index + header.length;
    if (BODY.test(text.slice(start, start + MAX_FIELDS_LENGTH))) return true;
  }
  return false;
}

const MAX_FIELDS_LENGTH = 2048;

/** Returns text without a byte order mark, and UTF-16 as one byte per character. */
function removeByteOrderMark(head: Buffer): Buffer {
  const [first, second, third] = head;
  if (first === 0xef && second === 0xbb && third === 0xbf) return head.subarray(3);
  if (first === 0xff && second === 0xfe) return narrow(head.subarray(2), 0);
  return first === 0xfe && second === 0xff ? narrow(head.subarray(2), 1) : head;
}

/** Returns the lower byte of each character. */
function narrow(wide: Buffer, offset: number): Buffer {
  return Buffer.from(wide.filter((_byte, index) => index % 2 === offset));
}

function findBinaryKey(head: Buffer): string | null {
  if (head[0] === 0x30) return isDerKey(head) ? "a private key" : null;
  if (head.length < 8) return null;
  const magic = head.readUInt32BE(0);
  if (magic === 0xfeedfeed || magic === 0xcececece) return "a Java key store";
  return magic === 0x03d9a29a ? "a KeePass database" : null;
}
