import { describe, expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { ResourceRegistry, resource, UnboundResourceError } from "./resources.ts";

const port = resource<number>("port");

describe("resource()", () => {
  test("returns a frozen key with a name", () => {
    expect(port).toEqual({ name: "port" });
    expect(port).toSatisfy(Object.isFrozen);
  });

  test("returns distinct keys for the same name", () => {
    const registry = new ResourceRegistry().bind(port, 1).bind(resource<number>("port"), 2);
    expect([...registry.bindings().values()]).toEqual([
      { owner: "caller", value: 1 },
      { owner: "caller", value: 2 },
    ]);
  });

  test.each(["", "  ", undefined, 5])("rejects the name %j", (name) => {
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

describe("ResourceRegistry.bind()", () => {
  test("stores values as owned by the caller, and functions as factories", () => {
    const make = () => 8080;
    const perCall = resource<number>("per call");
    const registry = new ResourceRegistry()
      .bind(port, make)
      .bind(perCall, make, { scope: "tool" })
      .bind(resource<null>("nothing"), null);
    expect([...registry.bindings().values()]).toEqual([
      { owner: "evaluation", scope: "singleton", create: make },
      { owner: "evaluation", scope: "tool", create: make },
      { owner: "caller", value: null },
    ]);
  });

  test("treats an undefined scope as omitted", () => {
    const registry = new ResourceRegistry().bind(port, () => 1, { scope: undefined });
    expect(registry.bindings().get(port)).toMatchObject({ scope: "singleton" });
  });

  test("rejects a key that is already bound, and keeps the first value", () => {
    const registry = new ResourceRegistry().bind(port, 1);
    expect(() => registry.bind(port, 2)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: 'bind("port")',
        value: "port",
        message: expect.stringContaining("Bind it in another registry to replace it"),
      }),
    );
    expect(registry.bindings().get(port)).toMatchObject({ value: 1 });
  });

  test.each([undefined, null, "port", {}, { name: 5 }])("rejects the key %j", (key) => {
    expect(() => new ResourceRegistry().bind(key as never, 1 as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "bind(key)",
        value: key,
        message: expect.stringContaining('Create one with resource<T>("name")'),
      }),
    );
  });

  test.each(["call", "", null])("rejects the scope %j", (scope) => {
    expect(() => new ResourceRegistry().bind(port, () => 1, { scope: scope as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: 'bind("port") scope',
        value: scope,
        message: expect.stringContaining('must be "singleton" or "tool"'),
      }),
    );
  });

  test('rejects a value that is not a function for scope "tool"', () => {
    expect(() => new ResourceRegistry().bind(port, 1, { scope: "tool" })).toThrow(
      'bind("port") must be a function for scope "tool", got 1. Pass a function that creates an instance for each call.',
    );
  });
});

test("UnboundResourceError names the resource and the remedy", () => {
  const error = new UnboundResourceError("port");
  expect(error).toBeInstanceOf(WinkError);
  expect(error).toMatchObject({ name: "UnboundResourceError", resourceName: "port" });
  expect(error.message).toBe(
    'No resource is bound as "port". Add it with registry.bind(key, value).',
  );
});
