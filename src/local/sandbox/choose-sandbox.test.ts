import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { chooseSandbox, knownSandboxes } from "./choose-sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** A sandbox of which only the probe is of interest. */
function sandbox(name: string, usable: boolean, reason: string): Sandbox {
  return {
    name,
    isolation: "none",
    probe: async () => ({ usable, reason }),
    open: () => Promise.reject(new Error("not opened here")),
  };
}

const broken = sandbox("bubblewrap", false, "bwrap is missing: apt install bubblewrap");
const works = sandbox("wasm", true, "a trial run succeeded");

describe("chooseSandbox", () => {
  test("takes the first that works, and says why not the ones before", async () => {
    const chosen = await chooseSandbox("auto", [broken, works]);
    expect(chosen).toEqual({
      sandbox: works,
      reason: "bubblewrap: bwrap is missing: apt install bubblewrap; wasm: a trial run succeeded",
    });
  });

  test("takes the one that is named or given", async () => {
    expect((await chooseSandbox("wasm", [broken, works])).sandbox).toBe(works);
    expect(await chooseSandbox(works)).toEqual({
      sandbox: works,
      reason: "wasm: a trial run succeeded",
    });
  });

  test("refuses a sandbox that does not work here, with what the probe said", async () => {
    const message =
      'sandbox must be one that works here, got "bubblewrap". Bwrap is missing: apt install bubblewrap';
    for (const which of ["bubblewrap", broken] as const) {
      const choosing = chooseSandbox(which, [broken, works]);
      await expect(choosing).rejects.toThrow(message);
      await expect(choosing).rejects.toBeInstanceOf(InvalidOptionError);
    }
  });

  test("refuses auto where none works, with the reasons of all", async () => {
    await expect(chooseSandbox("auto", [broken])).rejects.toThrow(
      'sandbox must be one that works here, got "auto". Bubblewrap: bwrap is missing',
    );
    await expect(chooseSandbox("auto", [])).rejects.toThrow("give a Sandbox of your own");
  });

  test("refuses a name that no sandbox has, and lists those that one has", async () => {
    const name: string = "docker";
    await expect(chooseSandbox(name as "auto", [broken, works])).rejects.toThrow(
      'sandbox must be a sandbox or the name of one, got "docker". Write "auto", "bubblewrap", "wasm", or give a Sandbox',
    );
  });

  test("of the known ones takes one that works here, or says why none does", async () => {
    const known = await knownSandboxes();
    const chosen = await chooseSandbox("auto").catch((error: unknown) => error);
    const names = known.map(({ name }) => name);
    if (chosen instanceof InvalidOptionError)
      for (const name of names) expect(chosen.message).toContain(name);
    else
      expect(chosen).toMatchObject({ sandbox: { name: expect.stringMatching(names.join("|")) } });
  });

  test("knows bubblewrap and wasm, in this order", async () => {
    expect((await knownSandboxes()).map(({ name }) => name)).toEqual(["bubblewrap", "wasm"]);
  });
});
