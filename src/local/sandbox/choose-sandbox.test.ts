import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { chooseSandbox, listSandboxes } from "./choose-sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** Creates a sandbox that implements only the probe. */
function createSandbox(name: string, usable: boolean, reason: string): Sandbox {
  return {
    name,
    isolation: "none",
    probe: async () => ({ usable, reason }),
    open: () => Promise.reject(new Error("not opened here")),
  };
}

const broken = createSandbox("bubblewrap", false, "bwrap is missing: apt install bubblewrap");
const works = createSandbox("wasm", true, "a trial run succeeded");

describe("chooseSandbox()", () => {
  test("takes the first usable sandbox, and reports why earlier ones were rejected", async () => {
    const chosen = await chooseSandbox("auto", [broken, works], "user");
    expect(chosen).toEqual({
      sandbox: works,
      reason: "bubblewrap: bwrap is missing: apt install bubblewrap; wasm: a trial run succeeded",
    });
  });

  test("does not choose wasm for code that a model wrote, and names the remedies", async () => {
    const choosing = chooseSandbox("auto", [broken, works]);
    await expect(choosing).rejects.toThrow(
      /apt install bubblewrap; wasm: .* set the sandbox to "wasm"/,
    );
    const strong = createSandbox("podman", true, "a trial run succeeded");
    expect((await chooseSandbox("auto", [broken, strong, works])).sandbox).toBe(strong);
    expect((await chooseSandbox("wasm", [broken, works], "model")).sandbox).toBe(works);
  });

  test("takes a sandbox by name or as an object", async () => {
    expect((await chooseSandbox("wasm", [broken, works])).sandbox).toBe(works);
    expect(await chooseSandbox(works)).toEqual({
      sandbox: works,
      reason: "wasm: a trial run succeeded",
    });
  });

  test("rejects a sandbox that does not work on this host, with the probe's reason", async () => {
    const message =
      'sandbox must be a sandbox that works on this host, got "bubblewrap". Bwrap is missing: apt install bubblewrap';
    for (const which of ["bubblewrap", broken] as const) {
      const choosing = chooseSandbox(which, [broken, works]);
      await expect(choosing).rejects.toThrow(message);
      await expect(choosing).rejects.toBeInstanceOf(InvalidOptionError);
    }
  });

  test("rejects auto if no sandbox works, with all reasons", async () => {
    await expect(chooseSandbox("auto", [broken])).rejects.toThrow(
      'sandbox must be a sandbox that works on this host, got "auto". Bubblewrap: bwrap is missing',
    );
    await expect(chooseSandbox("auto", [])).rejects.toThrow("Pass your own Sandbox.");
  });

  test("rejects an unknown name and lists the known names", async () => {
    const name: string = "chroot";
    await expect(chooseSandbox(name as "auto", [broken, works])).rejects.toThrow(
      'sandbox must be a Sandbox or a sandbox name, got "chroot". Use "auto", "bubblewrap", "wasm", or pass a Sandbox',
    );
  });

  test("takes a built-in sandbox that works on this host, or reports why none does", async () => {
    const known = await listSandboxes();
    const chosen = await chooseSandbox("auto").catch((error: unknown) => error);
    const names = known.map(({ name }) => name);
    if (chosen instanceof InvalidOptionError)
      for (const name of names) expect(chosen.message).toContain(name);
    else
      expect(chosen).toMatchObject({ sandbox: { name: expect.stringMatching(names.join("|")) } });
  });

  test("lists bubblewrap, Podman, Docker and wasm, in this order", async () => {
    expect((await listSandboxes()).map(({ name }) => name)).toEqual([
      "bubblewrap",
      "podman",
      "docker",
      "wasm",
    ]);
  });
});
