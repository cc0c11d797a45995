import { afterEach, describe, expect, test, vi } from "vitest";
import { createAsyncContext } from "./call-fence.ts";

afterEach(() => vi.unstubAllGlobals());

describe("createAsyncContext() with async_hooks", () => {
  test("carries a value only through its call chain's awaits", async () => {
    const context = createAsyncContext<string>();
    const read = async () => {
      await Promise.resolve();
      return context.current();
    };
    expect(context.available).toBe(true);
    const both = [context.run("a", read), context.run("b", read), read()];
    expect(await Promise.all(both)).toEqual(["a", "b", undefined]);
  });

  test("uses the innermost value and restores the outer one", () => {
    const context = createAsyncContext<number>();
    context.run(1, () => {
      expect(context.run(2, () => context.current())).toBe(2);
      expect(context.current()).toBe(1);
    });
    expect(context.current()).toBeUndefined();
  });

  test("keeps two contexts separate", () => {
    const one = createAsyncContext<number>();
    const other = createAsyncContext<number>();
    expect(one.run(1, () => other.current())).toBeUndefined();
  });
});

describe("createAsyncContext() without async_hooks", () => {
  const lacking = [
    ["a missing module", { getBuiltinModule: () => undefined }],
    ["no getBuiltinModule", {}],
    ["no process", undefined],
  ] as const;

  test.each(lacking)("runs the work without a value: %s", (_why, process) => {
    vi.stubGlobal("process", process);
    const context = createAsyncContext<string>();
    vi.unstubAllGlobals();
    expect(context.available).toBe(false);
    expect(context.run("a", () => [context.current()])).toEqual([undefined]);
  });

  test("accepts a custom module lookup", () => {
    expect(createAsyncContext(() => undefined).available).toBe(false);
  });
});
