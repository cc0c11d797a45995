import { describe, expect, test } from "vitest";
import type { Sandbox } from "../local/sandbox/sandbox.ts";
import { findSandbox } from "./find-sandbox.ts";

function createSandbox(name: string, usable: boolean): Sandbox {
  return {
    name,
    isolation: "none",
    probe: async () => ({ usable, reason: usable ? "it works" : `install ${name}` }),
    open: () => Promise.reject(new Error("not opened here")),
  };
}

describe("findSandbox()", () => {
  test("returns the first sandbox that works", async () => {
    const found = await findSandbox("auto", [
      createSandbox("one", false),
      createSandbox("two", true),
    ]);
    expect(found).toEqual({ name: "two", reason: "one: install one; two: it works" });
  });

  test("returns null if none works, and explains how to install each", async () => {
    const found = await findSandbox("auto", [
      createSandbox("one", false),
      createSandbox("two", false),
    ]);
    expect(found).toEqual({ name: null, reason: "one: install one; two: install two" });
  });

  test("throws for a named sandbox that does not work", async () => {
    const found = findSandbox("bubblewrap", [createSandbox("bubblewrap", false)]);
    await expect(found).rejects.toThrow("Install bubblewrap");
  });
});
