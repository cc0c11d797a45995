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
  const bytes = isUtf16(head) ? Buffer.from(head.toString("utf16le"), "latin1") : head;
  if (bytes.includes("PRIVATE KEY")) {
    const text = bytes.toString("latin1");
    if (hasKeyBlock(text)) return "a private key";
    if (SERVICE_ACCOUNT.test(text)) return "the private key of a service account";
  }
  if (bytes.includes("AGE-SECRET-KEY-") && AGE_KEY.test(bytes.toString("latin1"))) {
    return "a secret key of age";
  }
  if (bytes[0] === BRACE && bytes.includes('"kty"')) {
    return JWK.test(bytes.toString("latin1")) ? "a private JSON web key" : null;
  }
  return bytes.includes("PuTTY-User-Key-File-") && PUTTY_KEY.test(bytes.toString("latin1"))
    ? "a private key of PuTTY"
    : null;
}

const BRACE = 0x7b;

/** The header of PEM, OpenSSH, PGP and SSH2, alone on a line that may be indented or quoted. */
const HEADER =
  /(?:^|[\r\n])[ \t>]*-{4,5} ?BEGIN (?:[A-Z0-9 ]{1,30} )?PRIVATE KEY(?: BLOCK)? ?-{4,5}[ \t]*(?=[\r\n])/g;
/** The first lines after a header: fields such as `Proc-Type: 4,ENCRYPTED`, then at least 16 characters of the key. */
const BODY = /^(?:[\s>]*[A-Za-z][\w-]{0,40}: ?[^\r\n]{0,200}[\r\n]){0,8}[\s>]*[A-Za-z0-9+/]{16}/;
const SERVICE_ACCOUNT =
  /"private_key"\s*:\s*"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\\n[A-Za-z0-9+/]{16}/;
const AGE_KEY = /(?:^|[\r\n])[ \t]*AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20}/;
const PUTTY_KEY = /^(?:\xef\xbb\xbf)?PuTTY-User-Key-File-\d: /;
const JWK = /"d"\s*:\s*"[A-Za-z0-9_-]{32,}/;

function hasKeyBlock(text: string): boolean {
  for (const { index, 0: header } of text.matchAll(HEADER)) {
    const start = index + header.length;
    if (BODY.test(text.slice(start, start + MAX_FIELDS_LENGTH))) return true;
  }
  return false;
}

const MAX_FIELDS_LENGTH = 2048;

/** Text of Windows PowerShell, by its byte order mark. */
function isUtf16(head: Buffer): boolean {
  return head[0] === 0xff && head[1] === 0xfe;
}

function findBinaryKey(head: Buffer): string | null {
  if (head[0] === 0x30) return isDerKey(head) ? "a private key" : null;
  if (head.length < 8) return null;
  const magic = head.readUInt32BE(0);
  if (magic === 0xfeedfeed || magic === 0xcececece) return "a Java key store";
  return magic === 0x03d9a29a ? "a KeePass database" : null;
}
