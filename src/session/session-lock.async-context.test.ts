import { afterEach, describe, expect, test, vi } from "vitest";
import { asyncContext } from "./session-lock.ts";

afterEach(() => vi.unstubAllGlobals());

describe("where the runtime has async_hooks", () => {
  test("a value follows its chain of calls through awaits, and no other", async () => {
    const context = asyncContext<string>();
    const read = async () => {
      await Promise.resolve();
      return context.current();
    };
    expect(context.available).toBe(true);
    const both = [context.run("a", read), context.run("b", read), read()];
    expect(await Promise.all(both)).toEqual(["a", "b", undefined]);
  });

  test("the innermost value counts, and the outer one comes back after it", () => {
    const context = asyncContext<number>();
    context.run(1, () => {
      expect(context.run(2, () => context.current())).toBe(2);
      expect(context.current()).toBe(1);
    });
    expect(context.current()).toBeUndefined();
  });

  test("two contexts do not see each other's values", () => {
    const one = asyncContext<number>();
    const other = asyncContext<number>();
    expect(one.run(1, () => other.current())).toBeUndefined();
  });
});

describe("where it has none", () => {
  const lacking = [
    ["no such module", { getBuiltinModule: () => undefined }],
    ["no way to ask", {}],
    ["no process", undefined],
  ] as const;

  test.each(lacking)("with %s, work runs and no value follows it", (_why, process) => {
    vi.stubGlobal("process", process);
    const context = asyncContext<string>();
    vi.unstubAllGlobals();
    expect(context.available).toBe(false);
    expect(context.run("a", () => [context.current()])).toEqual([undefined]);
  });

  test("how modules are found can be passed in", () => {
    expect(asyncContext(() => undefined).available).toBe(false);
  });
});
