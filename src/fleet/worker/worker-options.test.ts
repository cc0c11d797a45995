import { expect, test } from "vitest";
import { checkListener } from "./worker-options.ts";

test("a listener is a function, or omitted", () => {
  const onEvent = () => {};
  expect(checkListener(onEvent)).toBe(onEvent);
  expect(checkListener(undefined)).toBeUndefined();
  expect(() => checkListener("log" as never)).toThrow(
    'Fleet.worker(onEvent) must be a function, got "log". Use (event) => console.log(event).',
  );
});
