import { expect, test } from "vitest";
import {
  checkKnownKeys,
  createUnknownKeyError,
  type KnownKeys,
  PromptValidationError,
} from "./errors.ts";

interface Options {
  readonly model: string;
  readonly maxTurns?: number | undefined;
}

const keys: KnownKeys<Options> = { model: true, maxTurns: true };
const check = (options: unknown, owner = "Adapter") =>
  checkKnownKeys(options as Options, owner, keys);

test.each([{}, { model: "a" }, { model: "a", maxTurns: undefined }, Object.create(null)])(
  "checkKnownKeys() accepts %j",
  (options) => {
    expect(() => check(options)).not.toThrow();
  },
);

test("checkKnownKeys() accepts class instances, and does not read inherited or symbol keys", () => {
  class Base {
    readonly model = "a";
    get modle(): string {
      throw new Error("read");
    }
  }
  expect(() => check(new Base())).not.toThrow();
  expect(() => check(Object.create({ modle: 1 }))).not.toThrow();
  expect(() => check({ model: "a", [Symbol("modle")]: 1 })).not.toThrow();
});

test.each([
  ["modle", "model"],
  ["Model", "model"],
  ["max_turns", "maxTurns"],
  ["maxturns", "maxTurns"],
  ["maxTurn", "maxTurns"],
])("checkKnownKeys() rejects %s and suggests %s", (key, suggested) => {
  expect(() => check({ [key]: 1 })).toThrow(
    expect.objectContaining({
      name: "InvalidOptionError",
      field: "Adapter key",
      value: key,
      message: `Adapter key must be a known option, got "${key}". Did you mean "${suggested}"?`,
    }),
  );
});

test.each(["colour", "__proto__", "constructor", "toString", "0", ""])(
  "checkKnownKeys() lists the options for %j, which resembles none",
  (key) => {
    const options = JSON.parse(`{${JSON.stringify(key)}:1}`);
    expect(() => check(options)).toThrow(
      `Adapter key must be one of "model", "maxTurns", got ${JSON.stringify(key)}. Remove it.`,
    );
  },
);

test("checkKnownKeys() rejects an unknown key whose value is undefined, and quotes no value", () => {
  expect(() => check({ modle: undefined })).toThrow('Did you mean "model"?');
  expect(() => check({ apiKey: "s3cret" })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("s3cret") }),
  );
});

test.each([
  [null, "Adapter(options) must be an object, got null. Use { … }."],
  ["text", 'Adapter(options) must be an object, got "text". Use { … }.'],
  [[], "Adapter(options) must be an object, got []. Use { … }."],
  [() => {}, "Adapter(options) must be an object, got a function. Use { … }."],
])("checkKnownKeys() rejects %s instead of an object", (options, message) => {
  expect(() => check(options)).toThrow(message);
});

test("checkKnownKeys() names an argument as it is, and throws the given class", () => {
  expect(() => check(5, "upload(options)")).toThrow("upload(options) must be an object, got 5");
  expect(() => check({ modle: 1 }, "upload(options)")).toThrow("upload(options) key must be");
  const work = () => checkKnownKeys<object>({ modle: 1 }, "Tool", keys, PromptValidationError);
  expect(work).toThrow(PromptValidationError);
});

test("createUnknownKeyError() for an object without options asks to omit the key", () => {
  expect(createUnknownKeyError("size", "tool(config)", []).message).toBe(
    'tool(config) key must be omitted, got "size". Remove it.',
  );
});
