/**
 * Whether bytes begin with a private key in DER: PKCS #8, PKCS #1 (RSA), SEC 1 (elliptic curves) or a PKCS #12 archive.
 * Certificates and public keys, which also are DER sequences, do not begin with a version number.
 */
export function isDerKey(bytes: Buffer): boolean {
  const start = skipHeader(bytes);
  if (start === null || bytes.length < start + 5) return false;
  const [tag, length, version, next] = bytes.subarray(start, start + 4);
  if (tag !== INTEGER || length !== 1) return false;
  if (version === 0) return next === SEQUENCE || next === INTEGER;
  if (version === 1) return next === OCTETS;
  return version === 3 && next === SEQUENCE;
}

const INTEGER = 0x02;
const OCTETS = 0x04;
const SEQUENCE = 0x30;

/** Returns where the content of the outer sequence starts, if its length fits a key. */
function skipHeader(bytes: Buffer): number | null {
  const length = bytes[1] ?? 0;
  if (bytes[0] !== SEQUENCE || length < 0x20) return null;
  if (length < 0x80) return 2;
  return length === 0x81 || length === 0x82 ? length - 0x80 + 2 : null;
}
