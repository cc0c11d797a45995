import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { RequestHash } from "./request-hash.ts";

const hashNatively = (text: string) => createHash("sha256").update(text).digest("hex");

test.each([
  ["natively", undefined],
  ["in JavaScript", null],
])("hashes parts %s, and continues from copies", (_, native) => {
  const hash = new RequestHash(native);
  const bytes = new TextEncoder().encode("Grüße");
  hash.update(bytes).update(", ");
  bytes.fill(0); // the buffer may be used again
  const copy = hash.copy();
  expect(hash.update("Ada").digest()).toBe(hashNatively("Grüße, Ada"));
  expect(copy.update("Grace").digest()).toBe(hashNatively("Grüße, Grace"));
});
