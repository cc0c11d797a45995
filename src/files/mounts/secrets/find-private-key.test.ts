import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findPrivateKey, KEY_HEAD_BYTES } from "./find-private-key.ts";

const BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(4);
const block = (kind: string, body = BODY) =>
  `-----BEGIN ${kind}-----\n${body}-----END ${kind}-----\n`;
const find = (text: string) => findPrivateKey(Buffer.from(text));
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });

describe("findPrivateKey() finds", () => {
  test.each([
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "DSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ANY PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
  ])("a block of the kind %s", (kind) => {
    expect(find(block(kind))).toBe("a private key");
  });

  test.each([
    ["after a certificate", block("CERTIFICATE") + block("PRIVATE KEY")],
    ["after comments", `# the key\n\n${block("RSA PRIVATE KEY")}`],
    ["indented, as in YAML", block("PRIVATE KEY").replace(/^/gm, "    ")],
    ["with CRLF line endings", block("PRIVATE KEY").replaceAll("\n", "\r\n")],
    ["with CR line endings", block("PRIVATE KEY").replaceAll("\n", "\r")],
    ["with a byte order mark and a first line", `\uFEFFkey:\n${block("PRIVATE KEY")}`],
    ["quoted in a mail", block("PRIVATE KEY").replace(/^/gm, "> ")],
    [
      "encrypted, with fields",
      block("RSA PRIVATE KEY", `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n${BODY}`),
    ],
    ["of PGP, with a version", block("PGP PRIVATE KEY BLOCK", `Version: 1\n\n${BODY}`)],
    ["of SSH2", `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\n${BODY}`],
  ])("a key %s", (_how, text) => {
    expect(find(text)).toBe("a private key");
  });

  test.each([
    [
      "the private key of a service account",
      `{"type":"service_account","private_key": "-----BEGIN PRIVATE KEY-----\\n${BODY.slice(0, 50)}"}`,
    ],
    ["a private key of PuTTY", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"],
    ["a secret key of age", `# created: 2026\nAGE-SECRET-KEY-1${"Q".repeat(58)}\n`],
    ["a private JSON web key", `{"kty":"EC","crv":"P-256","d":"${"x".repeat(43)}"}`],
  ])("%s", (kind, text) => {
    expect(find(text)).toBe(kind);
  });

  test("a key after a byte order mark, in UTF-8 and UTF-16", () => {
    const text = `\uFEFF${block("PRIVATE KEY")}`;
    const little = Buffer.from(text, "utf16le");
    const big = Buffer.from(little).swap16();
    for (const bytes of [Buffer.from(text), little, big]) {
      expect(findPrivateKey(bytes)).toBe("a private key");
    }
  });

  test.each([
    ["PKCS #8 of an elliptic curve", ec.privateKey.export({ type: "pkcs8", format: "der" })],
    ["SEC 1 of an elliptic curve", ec.privateKey.export({ type: "sec1", format: "der" })],
    ["PKCS #8 of RSA", rsa.privateKey.export({ type: "pkcs8", format: "der" })],
    ["PKCS #1 of RSA", rsa.privateKey.export({ type: "pkcs1", format: "der" })],
    ["PKCS #12", Buffer.from("308209f10201033082", "hex")],
  ])("%s in binary form", (_kind, bytes) => {
    expect(findPrivateKey(bytes)).toBe("a private key");
  });

  test.each([
    ["a Java key store", "feedfeed0000000200000001"],
    ["a Java key store", "cececece0000000200000001"],
    ["a KeePass database", "03d9a29a67fb4bb501000300"],
  ])("%s by its first bytes", (kind, hex) => {
    expect(findPrivateKey(Buffer.from(hex, "hex"))).toBe(kind);
  });
});

describe("findPrivateKey() ignores", () => {
  test.each([
    ["an empty file", ""],
    ["a certificate", block("CERTIFICATE")],
    ["a public key", block("PUBLIC KEY")],
    ["a PGP message", block("PGP MESSAGE")],
    [
      "a header inside a string of code",
      `const key = "-----BEGIN PRIVATE KEY-----\\n${BODY.slice(0, 40)}";\n`,
    ],
    ["a template literal", `const key = \`-----BEGIN RSA PRIVATE KEY-----\n${BODY}\`;\n`],
    ["a regular expression", "/-----BEGIN (RSA|EC) PRIVATE KEY-----/\n"],
    ["prose about a header", "Paste the lines from\n-----BEGIN PRIVATE KEY-----\nto the end.\n"],
    ["an elided example", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n"],
    ["a placeholder", "-----BEGIN PRIVATE KEY-----\n<your key here>\n"],
    [
      "a sentence that begins with the header",
      "-----BEGIN PRIVATE KEY----- starts a block of keys.\n",
    ],
    ["an account without its key", '{"private_key": "", "note": "PRIVATE KEY"}'],
    ["a mention of age", "Export AGE-SECRET-KEY-1… first.\n"],
    ["a mention of PuTTY", "The file begins with PuTTY-User-Key-File-3: and the kind.\n"],
    ["a public JSON web key", `{"kty":"EC","crv":"P-256","x":"${"x".repeat(43)}"}`],
    ["short bytes", "\xfe\xed"],
  ])("%s", (_what, text) => {
    expect(find(text)).toBeNull();
  });

  test.each([
    ["a public key", ec.publicKey.export({ type: "spki", format: "der" })],
    ["a public RSA key", rsa.publicKey.export({ type: "pkcs1", format: "der" })],
    ["a text that begins with a zero digit", Buffer.from("0123456789".repeat(10))],
    ["a sequence that is cut off", Buffer.from("3082", "hex")],
    ["a single byte of a sequence", Buffer.from("30", "hex")],
    ["a short sequence", Buffer.from("3010020100300d0000", "hex")],
    ["a sequence without a version", Buffer.from("3082010030820100020100", "hex")],
    ["a sequence of unknown length", Buffer.from("3080020100300000", "hex")],
    ["another version", Buffer.from("30820100020102300000", "hex")],
    ["a Mach-O program", Buffer.from("feedface0000000700000003", "hex")],
  ])("%s in binary form", (_kind, bytes) => {
    expect(findPrivateKey(bytes)).toBeNull();
  });
});

test("findPrivateKey() takes linear time on hostile text", () => {
  const hostile = [
    "-----BEGIN PRIVATE KEY-----\n".repeat(600),
    `-----BEGIN PRIVATE KEY-----\n${"a: \n".repeat(4000)}`,
    `-----BEGIN ${"A ".repeat(8000)}PRIVATE KEY`,
    `"private_key"${" ".repeat(16_000)}PRIVATE KEY`,
  ];
  const started = performance.now();
  for (const text of hostile) expect(find(text.slice(0, KEY_HEAD_BYTES))).toBeNull();
  expect(performance.now() - started).toBeLessThan(500);
});
