import { describe, expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { ResourceRegistry, resource, UnboundResourceError } from "./resources.ts";

const port = resource<number>("port");

describe("a key", () => {
  test("has a name, and is frozen", () => {
    expect(port).toEqual({ name: "port" });
    expect(port).toSatisfy(Object.isFrozen);
  });

  test("is itself, whatever others are called", () => {
    const registry = new ResourceRegistry().bind(port, 1).bind(resource<number>("port"), 2);
    expect([...registry.bindings().values()]).toEqual([
      { made: "by caller", value: 1 },
      { made: "by caller", value: 2 },
    ]);
  });

  test.each(["", "  ", undefined, 5])("cannot be called %j", (name) => {
    expect(() => resource(name as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "resource(name)",
        value: name,
        message: expect.stringContaining('resource<Database>("database")'),
      }),
    );
  });
});

describe("bind", () => {
  test("keeps values as the caller's, and functions as makers of ours", () => {
    const make = () => 8080;
    const perCall = resource<number>("per call");
    const registry = new ResourceRegistry()
      .bind(port, make)
      .bind(perCall, make, { scope: "tool" })
      .bind(resource<null>("nothing"), null);
    expect([...registry.bindings().values()]).toEqual([
      { made: "here", scope: "singleton", make },
      { made: "here", scope: "tool", make },
      { made: "by caller", value: null },
    ]);
  });

  test("takes an undefined scope for one that was left out", () => {
    const registry = new ResourceRegistry().bind(port, () => 1, { scope: undefined });
    expect(registry.bindings().get(port)).toMatchObject({ scope: "singleton" });
  });

  test("refuses a key that is bound already, and keeps the first value", () => {
    const registry = new ResourceRegistry().bind(port, 1);
    expect(() => registry.bind(port, 2)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: 'bind("port")',
        value: "port",
        message: expect.stringContaining("bind it in another registry to replace it"),
      }),
    );
    expect(registry.bindings().get(port)).toMatchObject({ value: 1 });
  });

  test.each([undefined, null, "port", {}, { name: 5 }])("refuses %j for a key", (key) => {
    expect(() => new ResourceRegistry().bind(key as never, 1 as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "bind(key)",
        value: key,
        message: expect.stringContaining('make one with resource<T>("name")'),
      }),
    );
  });

  test.each(["call", "", null])("refuses %j for a scope", (scope) => {
    expect(() => new ResourceRegistry().bind(port, () => 1, { scope: scope as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: 'bind("port") scope',
        value: scope,
        message: expect.stringContaining('must be "singleton" or "tool"'),
      }),
    );
  });

  test("refuses a ready value for scope tool", () => {
    expect(() => new ResourceRegistry().bind(port, 1, { scope: "tool" })).toThrow(
      'bind("port") must be a function for scope "tool", got 1. Give a function that makes a new one',
    );
  });
});

test("an unbound resource is named, with the remedy", () => {
  const error = new UnboundResourceError("port");
  expect(error).toBeInstanceOf(WinkError);
  expect(error).toMatchObject({ name: "UnboundResourceError", resourceName: "port" });
  expect(error.message).toBe(
    'No resource is bound as "port": add it with registry.bind(key, value)',
  );
});
