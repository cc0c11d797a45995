import { expect, test } from "vitest";
import { type Logger, silentLogger } from "./logger.ts";

test("console fits as a logger", () => {
  const logger: Logger = console;
  expect(logger.debug).toBeTypeOf("function");
});

test("the silent logger takes everything and says nothing", () => {
  const { debug, info, warn, error } = silentLogger;
  for (const say of [debug, info, warn, error]) expect(say("hush", { a: 1 })).toBeUndefined();
  expect(silentLogger).toSatisfy(Object.isFrozen);
});
