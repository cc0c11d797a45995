import { expect, test } from "vitest";
import { mergeModes } from "./merge-modes.ts";

const octal = (mode: number) => mode.toString(8).padStart(3, "0");

test.each([
  ["nothing changed", 0o664, 0o644, 0o644, 0o664],
  ["made executable", 0o644, 0o644, 0o755, 0o755],
  ["no longer executable", 0o755, 0o755, 0o644, 0o644],
  ["made private", 0o644, 0o644, 0o600, 0o600],
  ["made private, although the host's group may write", 0o664, 0o644, 0o600, 0o600],
  ["made writable for the group", 0o644, 0o644, 0o664, 0o664],
  ["a private host file, made executable", 0o600, 0o644, 0o755, 0o700],
  ["a private host file, opened for everyone", 0o600, 0o644, 0o777, 0o700],
  ["a read-only host file, made executable", 0o400, 0o644, 0o755, 0o500],
  ["executable on the host meanwhile, made private", 0o755, 0o644, 0o600, 0o700],
  ["unknown before, made executable", 0o640, null, 0o755, 0o750],
  ["unknown before, made plain", 0o750, null, 0o644, 0o640],
])("mergeModes() of %s", (_, host, mounted, now, merged) => {
  expect(octal(mergeModes({ host, mounted, now }))).toBe(octal(merged));
});
