import { expect, test } from "vitest";
import { isLoopback } from "./is-loopback.ts";

test.each([
  "localhost",
  "LOCALHOST",
  "127.0.0.1",
  "127.255.0.9",
  "::1",
  "0:0:0:0:0:0:0:1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
])("isLoopback() is true for %s", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  "",
  "0.0.0.0",
  "::",
  "10.0.0.1",
  "128.0.0.1",
  "::ffff:10.0.0.1",
  "127.evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "localhost.",
  "evil.localhost",
  "127.1",
  "0177.0.0.1",
  "2130706433",
  "0x7f000001",
  "127.0.0.1 ",
])("isLoopback() is false for %j", (host) => {
  expect(isLoopback(host)).toBe(false);
});
