import { describe, expect, test } from "vitest";
import { LazySandbox } from "./lazy-sandbox.ts";
import type { Sandbox, SandboxProcess } from "./sandbox.ts";
import { isPyodideInstalled } from "./wasm/child.ts";

interface RecordingSandbox extends Sandbox {
  /** Names of the calls, in order. */
  readonly calls: string[];
}

/** Creates a sandbox with the given behavior, so that no real sandbox has to fail. */
function createSandbox(
  name: string,
  { usable = true, reason = "a trial run succeeded", opens = true } = {},
): RecordingSandbox {
  const asked: string[] = [];
  return {
    name,
    isolation: "none",
    calls: asked,
    probe: async () => {
      asked.push("probe");
      return { usable, reason };
    },
    open: async () => {
      asked.push("open");
      if (!opens) throw new Error("it does not start");
      return {} as SandboxProcess;
    },
  };
}

const options = { root: "/nowhere", memoryBytes: 1 };
const missing = { usable: false, reason: "bwrap is not installed: apt-get install bubblewrap" };

describe("LazySandbox", () => {
  test("is chosen on first open, and tested once for all callers", async () => {
    const [bubblewrap, wasm] = [createSandbox("bubblewrap"), createSandbox("wasm")];
    await using lazy = new LazySandbox("auto", [bubblewrap, wasm]);
    await lazy.check();
    expect(bubblewrap.calls).toEqual([]);
    await Promise.all([lazy.open(options), lazy.open(options), lazy.chooseTested(), lazy.choose()]);
    expect(bubblewrap.calls).toEqual(["probe", "open", "open"]);
    expect(wasm.calls).toEqual([]);
    expect(await lazy.chooseTested()).toEqual({
      sandbox: bubblewrap,
      reason: "bubblewrap: a trial run succeeded",
    });
    expect(await lazy.probe()).toEqual({ usable: true, reason: "a trial run succeeded" });
  });

  test("rejects a named sandbox that does not work before code runs", async () => {
    const lazy = new LazySandbox("bubblewrap", [createSandbox("bubblewrap", missing)]);
    expect(lazy.name).toBe("bubblewrap");
    await expect(lazy.check()).rejects.toThrow(
      'sandbox must be a sandbox that works on this host, got "bubblewrap". Bwrap is not installed: apt-get install bubblewrap',
    );
    const name: string = "docker";
    await expect(new LazySandbox(name as "auto", []).check()).rejects.toThrow(
      'sandbox must be a Sandbox or a sandbox name, got "docker"',
    );
  });

  test("tests a given sandbox on first open, and again after a failure", async () => {
    const given = createSandbox("mine", { usable: false, reason: "not yet" });
    const lazy = new LazySandbox(given);
    expect(lazy.name).toBe("mine");
    await lazy.check();
    expect(given.calls).toEqual([]);
    await expect(lazy.open(options)).rejects.toThrow('got "mine". Not yet');
    Object.assign(given, createSandbox("mine"));
    await lazy.open(options);
    expect(await lazy.chooseTested()).toEqual({
      sandbox: given,
      reason: "mine: a trial run succeeded",
    });
  });

  test("waits on dispose for a running trial", async () => {
    const trial = Promise.withResolvers<{ usable: boolean; reason: string }>();
    const lazy = new LazySandbox({ ...createSandbox("mine"), probe: () => trial.promise });
    const chosen = lazy.chooseTested().catch((error: Error) => error.message);
    let isDisposed = false;
    const disposal = lazy[Symbol.asyncDispose]().then(() => {
      isDisposed = true;
    });
    await new Promise(setImmediate);
    expect(isDisposed).toBe(false);
    trial.resolve({ usable: false, reason: "broken" });
    await disposal;
    expect(await chosen).toContain("Broken");
  });
});

const UNTRIED = "wasm: it is installed, and is tested when code first runs";

describe.skipIf(!isPyodideInstalled())("LazySandbox with WebAssembly", () => {
  test("is chosen at once, and tested only on request", async () => {
    const wasm = createSandbox("wasm");
    const candidates = [createSandbox("bubblewrap", missing), wasm];
    await expect(new LazySandbox("auto", candidates).choose()).rejects.toThrow("not a security");
    await using lazy = new LazySandbox("auto", candidates, "user");
    const { sandbox: chosen, reason } = await lazy.choose();
    expect(chosen.name).toBe("wasm");
    expect(reason).toBe(`bubblewrap: ${missing.reason}; ${UNTRIED}`);
    expect(wasm.calls).toEqual([]);
    expect((await lazy.chooseTested()).reason).toBe(
      `bubblewrap: ${missing.reason}; wasm: a trial run succeeded`,
    );
    expect(wasm.calls).toEqual(["probe"]);
  });

  test("is tested by its start", async () => {
    const wasm = createSandbox("wasm");
    await using lazy = new LazySandbox("wasm", [wasm]);
    await lazy.check();
    await lazy.open(options);
    expect(wasm.calls).toEqual(["open"]);
  });

  test("reports the trial's remedy if it does not start", async () => {
    const reason = "a trial run failed: npm install pyodide@314";
    const broken = createSandbox("wasm", { usable: false, reason, opens: false });
    await expect(new LazySandbox("wasm", [broken]).open(options)).rejects.toThrow(
      `sandbox must be a sandbox that works on this host, got "wasm". A${reason.slice(1)}.`,
    );
    const odd = createSandbox("wasm", { opens: false });
    await expect(new LazySandbox("wasm", [odd]).open(options)).rejects.toThrow("it does not start");
    expect(odd.calls).toEqual(["open", "probe"]);
  });

  test("is not tested if its start is canceled", async () => {
    const wasm = createSandbox("wasm", { opens: false });
    const signal = AbortSignal.abort(new Error("called off"));
    const opening = new LazySandbox("wasm", [wasm]).open({ ...options, signal });
    await expect(opening).rejects.toThrow("called off");
    expect(wasm.calls).toEqual(["open"]);
  });

  test("is chosen among the built-in sandboxes faster than a trial run takes", async () => {
    await using lazy = new LazySandbox("wasm");
    const started = performance.now();
    await lazy.check();
    expect((await lazy.choose()).reason).toBe(UNTRIED);
    expect(performance.now() - started).toBeLessThan(500); // a trial takes two seconds
  });
});
