import { describe, expect, test, vi } from "vitest";
import { WinkError } from "../base/errors.ts";
import { isSnapshotable, OpenResources } from "./open-resources.ts";
import { ResourceRegistry, resource, UnboundResourceError } from "./resources.ts";

const port = resource<number>("port");
const first = resource<object>("first");
const second = resource<object>("second");
const third = resource<object>("third");

describe("a resource", () => {
  test("bound as a value is returned unchanged", () => {
    const value = { a: 1 };
    const resources = new OpenResources(new ResourceRegistry().bind(first, value));
    expect(resources.get(first)).toBe(value);
    expect(resources.find(first)).toBe(value);
    expect(resources.forCall().find(first)).toBe(value);
    expect(resources.has(first)).toBe(true);
  });

  test("is created once, on first use", () => {
    const make = vi.fn(() => 8080);
    const resources = new OpenResources(new ResourceRegistry().bind(port, make));
    expect(make).not.toHaveBeenCalled();
    expect([resources.get(port), resources.forCall().get(port), resources.find(port)]).toEqual([
      8080, 8080, 8080,
    ]);
    expect(make).toHaveBeenCalledOnce();
  });

  test("is created only once even if its factory returns undefined", () => {
    const nothing = resource<undefined>("nothing");
    const make = vi.fn(() => undefined);
    const resources = new OpenResources(new ResourceRegistry().bind(nothing, make));
    resources.get(nothing);
    resources.get(nothing);
    expect(make).toHaveBeenCalledOnce();
  });

  test("is created again for each evaluation", () => {
    const registry = new ResourceRegistry().bind(first, () => ({}));
    expect(new OpenResources(registry).get(first)).not.toBe(new OpenResources(registry).get(first));
  });

  test('of scope "tool" is created once per call', () => {
    const make = vi.fn(() => ({}));
    const resources = new OpenResources(
      new ResourceRegistry().bind(first, make, { scope: "tool" }),
    );
    const call = resources.forCall();
    const other = resources.forCall();
    expect(call.get(first)).toBe(call.get(first));
    expect(call.get(first)).not.toBe(other.get(first));
    expect(make).toHaveBeenCalledTimes(2);
  });

  test("whose factory throws is named in the error and created again on next use", () => {
    const cause = new Error("refused");
    const make = vi.fn((): number => {
      throw cause;
    });
    const resources = new OpenResources(new ResourceRegistry().bind(port, make));
    const get = () => resources.get(port);
    expect(get).toThrow(WinkError);
    expect(get).toThrow(
      expect.objectContaining({ message: 'Resource "port" could not be created: refused', cause }),
    );
    make.mockReturnValue(8080);
    expect(resources.get(port)).toBe(8080);
  });
});

describe("a resource key", () => {
  test("that is not bound throws in get() and returns null in find()", () => {
    const resources = new OpenResources();
    for (const reach of [resources, resources.forCall()]) {
      expect(() => reach.get(port)).toThrow(UnboundResourceError);
      expect(() => reach.get(port)).toThrow('No resource is bound as "port"');
      expect(reach.find(port)).toBeNull();
    }
    expect(resources.has(port)).toBe(false);
  });

  test("is compared by identity, not by name", () => {
    const namesake = resource<number>("port");
    const resources = new OpenResources(new ResourceRegistry().bind(port, 1).bind(namesake, 2));
    expect([resources.get(port), resources.get(namesake)]).toEqual([1, 2]);
    expect(() => resources.get(resource<number>("port"))).toThrow(UnboundResourceError);
  });

  test("that is undefined throws UnboundResourceError", () => {
    expect(() => new OpenResources().get(undefined as never)).toThrow(UnboundResourceError);
  });
});

test("a later registry replaces a binding, and the replaced factory never runs", () => {
  const make = vi.fn(() => 1);
  const resources = new OpenResources(
    null,
    new ResourceRegistry().bind(port, make).bind(first, { a: 1 }),
    undefined,
    new ResourceRegistry().bind(port, 2),
  );
  expect(resources.get(port)).toBe(2);
  expect(resources.get(first)).toEqual({ a: 1 });
  expect(make).not.toHaveBeenCalled();
});

describe("closing resources", () => {
  test("closes from newest to oldest and awaits each", async () => {
    const closed: string[] = [];
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => createDisposable(() => void closed.push("first")))
        .bind(second, () => ({
          async [Symbol.asyncDispose]() {
            await Promise.resolve();
            closed.push("second");
          },
        }))
        .bind(third, () => createDisposable(() => void closed.push("third"))),
    );
    resources.get(third);
    resources.get(second);
    resources.get(first);
    await resources[Symbol.asyncDispose]();
    expect(closed).toEqual(["first", "second", "third"]);
  });

  test("closes each created resource once, and no others", async () => {
    const close = vi.fn();
    const unused = vi.fn();
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => createDisposable(close))
        .bind(second, () => createDisposable(unused)),
    );
    resources.get(first);
    await resources[Symbol.asyncDispose]();
    await resources[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledOnce();
    expect(unused).not.toHaveBeenCalled();
  });

  test("does not close values bound by the caller", async () => {
    const close = vi.fn();
    {
      await using resources = new OpenResources(
        new ResourceRegistry().bind(first, createDisposable(close)),
      );
      resources.get(first);
      await using call = resources.forCall();
      call.get(first);
    }
    expect(close).not.toHaveBeenCalled();
  });

  test("of a call closes only the resources that the call created", async () => {
    const closed: string[] = [];
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => createDisposable(() => void closed.push("of the call")), {
          scope: "tool",
        })
        .bind(second, () => createDisposable(() => void closed.push("of the evaluation"))),
    );
    {
      await using call = resources.forCall();
      call.get(first);
      call.get(second);
      resources.forCall().get(first); // another call that continues
    }
    expect(closed).toEqual(["of the call"]);
    await resources[Symbol.asyncDispose]();
    expect(closed).toEqual(["of the call", "of the evaluation"]);
  });

  test("awaits a resource that is a promise", async () => {
    const close = vi.fn();
    const later = resource<Promise<object>>("later");
    const resources = new OpenResources(
      new ResourceRegistry().bind(later, async () => createDisposable(close)),
    );
    await resources.get(later);
    await resources[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledOnce();
  });

  test("prefers asyncDispose to dispose", async () => {
    const close = vi.fn();
    const closeNow = vi.fn();
    const both = { ...createDisposable(closeNow), [Symbol.asyncDispose]: async () => close() };
    const resources = new OpenResources(new ResourceRegistry().bind(first, () => both));
    resources.get(first);
    await resources[Symbol.asyncDispose]();
    expect([close.mock.calls.length, closeNow.mock.calls.length]).toEqual([1, 0]);
  });

  test("ignores resources that are not disposable", async () => {
    const resources = new OpenResources(
      new ResourceRegistry().bind(port, () => 1).bind(first, () => ({ close: "me" })),
    );
    resources.get(port);
    resources.get(first);
    await expect(resources[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  test("prevents new resources from being created, because they would never be closed", async () => {
    const [late, callers] = [resource<object>("late"), resource<number>("callers")];
    const registry = new ResourceRegistry().bind(late, () => ({})).bind(callers, 1);
    const resources = new OpenResources(registry);
    await resources[Symbol.asyncDispose]();
    expect(() => resources.get(late)).toThrow(
      'Resource "late" is closed: its evaluation has ended. Await all work before the handler returns.',
    );
    expect(resources.get(callers)).toBe(1);
  });

  test("closes the others after one fails, and names the failed one", async () => {
    const close = vi.fn();
    const cause = new Error("busy");
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => createDisposable(close))
        .bind(second, () => createDisposable(() => throwError(cause))),
    );
    resources.get(first);
    resources.get(second);
    await expect(resources[Symbol.asyncDispose]()).rejects.toMatchObject({
      name: "WinkError",
      message: 'Resource "second" failed to close: busy',
      cause,
    });
    expect(close).toHaveBeenCalledOnce();
  });

  test("reports all failures in one WinkError", async () => {
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => createDisposable(() => throwError(new Error("busy"))))
        .bind(second, () => ({ [Symbol.asyncDispose]: async () => throwError(new Error("gone")) })),
    );
    resources.get(first);
    resources.get(second);
    const closing = resources[Symbol.asyncDispose]();
    await expect(closing).rejects.toBeInstanceOf(WinkError);
    await expect(closing).rejects.toMatchObject({
      message: 'Resource "second" failed to close: gone; Resource "first" failed to close: busy',
      cause: { errors: [{ cause: new Error("gone") }, { cause: new Error("busy") }] },
    });
  });
});

describe("listSnapshotables()", () => {
  const files = () => ({ snapshot: () => 1, restore: () => {} });

  test("returns each existing resource with snapshot and restore once", () => {
    const given = files();
    const made = files();
    const twin = resource<object>("twin");
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, given)
        .bind(twin, given)
        .bind(second, () => made)
        .bind(third, () => files())
        .bind(port, 1),
    );
    expect(resources.listSnapshotables()).toEqual([given]);
    resources.get(second);
    const found = resources.listSnapshotables();
    expect(found).toHaveLength(2);
    expect(found[0]).toBe(given);
    expect(found[1]).toBe(made);
  });

  test("includes the result of an asynchronous factory after it resolves", async () => {
    const made = files();
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, async () => made)
        .bind(second, () => Promise.reject(new Error("refused"))),
    );
    await resources.get(first);
    await expect(resources.get(second)).rejects.toThrow("refused");
    expect(resources.listSnapshotables()).toEqual([made]);
  });

  test('excludes resources of scope "tool"', () => {
    const resources = new OpenResources(
      new ResourceRegistry().bind(first, files, { scope: "tool" }),
    );
    resources.forCall().get(first);
    expect(resources.listSnapshotables()).toEqual([]);
  });

  test("recognizes snapshotable resources by their two methods", () => {
    expect(isSnapshotable(files())).toBe(true);
    const others = [
      null,
      undefined,
      1,
      {},
      { snapshot() {} },
      { restore() {} },
      { ...files(), restore: 1 },
    ];
    expect(others.some(isSnapshotable)).toBe(false);
  });
});

function createDisposable(close: () => void): Disposable {
  return { [Symbol.dispose]: close };
}

function throwError(error: Error): never {
  throw error;
}
