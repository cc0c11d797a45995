import { describe, expect, test, vi } from "vitest";
import { WinkError } from "../base/errors.ts";
import { isSnapshotable, OpenResources } from "./open-resources.ts";
import { ResourceRegistry, resource, UnboundResourceError } from "./resources.ts";

const port = resource<number>("port");
const first = resource<object>("first");
const second = resource<object>("second");
const third = resource<object>("third");

describe("a resource", () => {
  test("that was bound as a value is that value", () => {
    const value = { a: 1 };
    const resources = new OpenResources(new ResourceRegistry().bind(first, value));
    expect(resources.get(first)).toBe(value);
    expect(resources.find(first)).toBe(value);
    expect(resources.forCall().find(first)).toBe(value);
    expect(resources.has(first)).toBe(true);
  });

  test("is made at its first use, and once", () => {
    const make = vi.fn(() => 8080);
    const resources = new OpenResources(new ResourceRegistry().bind(port, make));
    expect(make).not.toHaveBeenCalled();
    expect([resources.get(port), resources.forCall().get(port), resources.find(port)]).toEqual([
      8080, 8080, 8080,
    ]);
    expect(make).toHaveBeenCalledOnce();
  });

  test("that is nothing is made once, too", () => {
    const nothing = resource<undefined>("nothing");
    const make = vi.fn(() => undefined);
    const resources = new OpenResources(new ResourceRegistry().bind(nothing, make));
    resources.get(nothing);
    resources.get(nothing);
    expect(make).toHaveBeenCalledOnce();
  });

  test("is made anew for each evaluation", () => {
    const registry = new ResourceRegistry().bind(first, () => ({}));
    expect(new OpenResources(registry).get(first)).not.toBe(new OpenResources(registry).get(first));
  });

  test("of scope tool is made once for each call", () => {
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

  test("that could not be made says which and why, and is tried again", () => {
    const cause = new Error("refused");
    const make = vi.fn((): number => {
      throw cause;
    });
    const resources = new OpenResources(new ResourceRegistry().bind(port, make));
    const get = () => resources.get(port);
    expect(get).toThrow(WinkError);
    expect(get).toThrow(
      expect.objectContaining({ message: 'Resource "port" could not be made: refused', cause }),
    );
    make.mockReturnValue(8080);
    expect(resources.get(port)).toBe(8080);
  });
});

describe("a key", () => {
  test("that nothing is bound to throws when got, and is null when looked for", () => {
    const resources = new OpenResources();
    for (const reach of [resources, resources.forCall()]) {
      expect(() => reach.get(port)).toThrow(UnboundResourceError);
      expect(() => reach.get(port)).toThrow('No resource is bound as "port"');
      expect(reach.find(port)).toBeNull();
    }
    expect(resources.has(port)).toBe(false);
  });

  test("is itself, not its name", () => {
    const namesake = resource<number>("port");
    const resources = new OpenResources(new ResourceRegistry().bind(port, 1).bind(namesake, 2));
    expect([resources.get(port), resources.get(namesake)]).toEqual([1, 2]);
    expect(() => resources.get(resource<number>("port"))).toThrow(UnboundResourceError);
  });

  test("that is none throws the same", () => {
    expect(() => new OpenResources().get(undefined as never)).toThrow(UnboundResourceError);
  });
});

test("a later registry wins, and what it replaced is never made", () => {
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

describe("closing", () => {
  test("goes from the newest to the oldest, and waits for each", async () => {
    const closed: string[] = [];
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => closable(() => void closed.push("first")))
        .bind(second, () => ({
          async [Symbol.asyncDispose]() {
            await Promise.resolve();
            closed.push("second");
          },
        }))
        .bind(third, () => closable(() => void closed.push("third"))),
    );
    resources.get(third);
    resources.get(second);
    resources.get(first);
    await resources[Symbol.asyncDispose]();
    expect(closed).toEqual(["first", "second", "third"]);
  });

  test("is done once, and only to what was made", async () => {
    const close = vi.fn();
    const unused = vi.fn();
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => closable(close))
        .bind(second, () => closable(unused)),
    );
    resources.get(first);
    await resources[Symbol.asyncDispose]();
    await resources[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledOnce();
    expect(unused).not.toHaveBeenCalled();
  });

  test("never touches what the caller made", async () => {
    const close = vi.fn();
    {
      await using resources = new OpenResources(
        new ResourceRegistry().bind(first, closable(close)),
      );
      resources.get(first);
      await using call = resources.forCall();
      call.get(first);
    }
    expect(close).not.toHaveBeenCalled();
  });

  test("of a call closes what that call made, and nothing else", async () => {
    const closed: string[] = [];
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => closable(() => void closed.push("of the call")), { scope: "tool" })
        .bind(second, () => closable(() => void closed.push("of the evaluation"))),
    );
    {
      await using call = resources.forCall();
      call.get(first);
      call.get(second);
      resources.forCall().get(first); // another call, that goes on
    }
    expect(closed).toEqual(["of the call"]);
    await resources[Symbol.asyncDispose]();
    expect(closed).toEqual(["of the call", "of the evaluation"]);
  });

  test("takes a resource that is a promise for what it becomes", async () => {
    const close = vi.fn();
    const later = resource<Promise<object>>("later");
    const resources = new OpenResources(
      new ResourceRegistry().bind(later, async () => closable(close)),
    );
    await resources.get(later);
    await resources[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledOnce();
  });

  test("prefers the asynchronous way where there are two", async () => {
    const close = vi.fn();
    const closeNow = vi.fn();
    const both = { ...closable(closeNow), [Symbol.asyncDispose]: async () => close() };
    const resources = new OpenResources(new ResourceRegistry().bind(first, () => both));
    resources.get(first);
    await resources[Symbol.asyncDispose]();
    expect([close.mock.calls.length, closeNow.mock.calls.length]).toEqual([1, 0]);
  });

  test("leaves alone what cannot be closed", async () => {
    const resources = new OpenResources(
      new ResourceRegistry().bind(port, () => 1).bind(first, () => ({ close: "me" })),
    );
    resources.get(port);
    resources.get(first);
    await expect(resources[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  test("is the end: what would be made after it is refused, for nobody would close it", async () => {
    const [late, callers] = [resource<object>("late"), resource<number>("callers")];
    const registry = new ResourceRegistry().bind(late, () => ({})).bind(callers, 1);
    const resources = new OpenResources(registry);
    await resources[Symbol.asyncDispose]();
    expect(() => resources.get(late)).toThrow('Resource "late" is no longer to be had');
    expect(resources.get(callers)).toBe(1);
  });

  test("that fails for one keeps none of the others open, and says which", async () => {
    const close = vi.fn();
    const cause = new Error("busy");
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => closable(close))
        .bind(second, () => closable(() => fail(cause))),
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

  test("that fails for several says all of them, in one error of ours", async () => {
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, () => closable(() => fail(new Error("busy"))))
        .bind(second, () => ({ [Symbol.asyncDispose]: async () => fail(new Error("gone")) })),
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

describe("what can be set back", () => {
  const files = () => ({ snapshot: () => 1, restore: () => {} });

  test("is what exists now and has snapshot and restore, each once", () => {
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
    expect(resources.snapshotables()).toEqual([given]);
    resources.get(second);
    const found = resources.snapshotables();
    expect(found).toHaveLength(2);
    expect(found[0]).toBe(given);
    expect(found[1]).toBe(made);
  });

  test("is what an asynchronous factory made, once that is there", async () => {
    const made = files();
    const resources = new OpenResources(
      new ResourceRegistry()
        .bind(first, async () => made)
        .bind(second, () => Promise.reject(new Error("refused"))),
    );
    await resources.get(first);
    await expect(resources.get(second)).rejects.toThrow("refused");
    expect(resources.snapshotables()).toEqual([made]);
  });

  test("is not what one call made for itself", () => {
    const resources = new OpenResources(
      new ResourceRegistry().bind(first, files, { scope: "tool" }),
    );
    resources.forCall().get(first);
    expect(resources.snapshotables()).toEqual([]);
  });

  test("is told by its two methods", () => {
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

function closable(close: () => void): Disposable {
  return { [Symbol.dispose]: close };
}

function fail(error: Error): never {
  throw error;
}
