import { expect, test } from "vitest";
import { type Logger, silentLogger } from "./logger.ts";

test("Logger accepts console", () => {
  const logger: Logger = console;
  expect(logger.debug).toBeTypeOf("function");
});

test("silentLogger accepts every message and discards it", () => {
  const { debug, info, warn, error } = silentLogger;
  for (const say of [debug, info, warn, error]) expect(say("hush", { a: 1 })).toBeUndefined();
  expect(silentLogger).toSatisfy(Object.isFrozen);
});
