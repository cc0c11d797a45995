import { describe, expect, test } from "vitest";
import type { Sandbox } from "../local/sandbox/sandbox.ts";
import { findSandbox } from "./find-sandbox.ts";

function sandbox(name: string, usable: boolean): Sandbox {
  return {
    name,
    isolation: "none",
    probe: async () => ({ usable, reason: usable ? "it works" : `install ${name}` }),
    open: () => Promise.reject(new Error("not opened here")),
  };
}

describe("findSandbox", () => {
  test("finds the first sandbox that works", async () => {
    const found = await findSandbox("auto", [sandbox("one", false), sandbox("two", true)]);
    expect(found).toEqual({ name: "two", reason: "one: install one; two: it works" });
  });

  test("finds none where none works, and says how to install each", async () => {
    const found = await findSandbox("auto", [sandbox("one", false), sandbox("two", false)]);
    expect(found).toEqual({ name: null, reason: "one: install one; two: install two" });
  });

  test("throws for a named sandbox that does not work", async () => {
    const found = findSandbox("bubblewrap", [sandbox("bubblewrap", false)]);
    await expect(found).rejects.toThrow("install bubblewrap");
  });
});
