import { describe, expect, test } from "vitest";
import { LazySandbox } from "./lazy-sandbox.ts";
import type { Sandbox, SandboxProcess } from "./sandbox.ts";
import { isPyodideInstalled } from "./wasm/child.ts";

interface Told extends Sandbox {
  /** What was asked of it, in order. */
  readonly asked: string[];
}

/** A sandbox that does what its test says, in place of a real one that would have to be broken. */
function sandbox(
  name: string,
  { usable = true, reason = "a trial run succeeded", opens = true } = {},
): Told {
  const asked: string[] = [];
  return {
    name,
    isolation: "none",
    asked,
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

describe("a lazy sandbox", () => {
  test("is chosen when it is first opened, and tried once for all", async () => {
    const [bubblewrap, wasm] = [sandbox("bubblewrap"), sandbox("wasm")];
    await using lazy = new LazySandbox("auto", [bubblewrap, wasm]);
    await lazy.check();
    expect(bubblewrap.asked).toEqual([]);
    await Promise.all([lazy.open(options), lazy.open(options), lazy.tried(), lazy.chosen()]);
    expect(bubblewrap.asked).toEqual(["probe", "open", "open"]);
    expect(wasm.asked).toEqual([]);
    expect(await lazy.tried()).toEqual({
      sandbox: bubblewrap,
      reason: "bubblewrap: a trial run succeeded",
    });
    expect(await lazy.probe()).toEqual({ usable: true, reason: "a trial run succeeded" });
  });

  test("that was named and cannot be is refused before code runs", async () => {
    const lazy = new LazySandbox("bubblewrap", [sandbox("bubblewrap", missing)]);
    expect(lazy.name).toBe("bubblewrap");
    await expect(lazy.check()).rejects.toThrow(
      'sandbox must be one that works here, got "bubblewrap". Bwrap is not installed: apt-get install bubblewrap',
    );
    const name: string = "docker";
    await expect(new LazySandbox(name as "auto", []).check()).rejects.toThrow(
      'sandbox must be a sandbox or the name of one, got "docker"',
    );
  });

  test("that was given is tried when it is first opened, and again after a failure", async () => {
    const given = sandbox("mine", { usable: false, reason: "not yet" });
    const lazy = new LazySandbox(given);
    expect(lazy.name).toBe("mine");
    await lazy.check();
    expect(given.asked).toEqual([]);
    await expect(lazy.open(options)).rejects.toThrow('got "mine". Not yet');
    Object.assign(given, sandbox("mine"));
    await lazy.open(options);
    expect(await lazy.tried()).toEqual({ sandbox: given, reason: "mine: a trial run succeeded" });
  });

  test("waits, when it is disposed of, for a trial that is under way", async () => {
    const trial = Promise.withResolvers<{ usable: boolean; reason: string }>();
    const lazy = new LazySandbox({ ...sandbox("mine"), probe: () => trial.promise });
    const chosen = lazy.tried().catch((error: Error) => error.message);
    let isOver = false;
    const over = lazy[Symbol.asyncDispose]().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    trial.resolve({ usable: false, reason: "broken" });
    await over;
    expect(await chosen).toContain("broken");
  });
});

const UNTRIED = "wasm: it is installed, and is tried when code first runs";

describe.skipIf(!isPyodideInstalled())("a lazy sandbox of WebAssembly", () => {
  test("is named at once, and tried only by whoever wants that", async () => {
    const wasm = sandbox("wasm");
    await using lazy = new LazySandbox("auto", [sandbox("bubblewrap", missing), wasm]);
    const { sandbox: chosen, reason } = await lazy.chosen();
    expect(chosen.name).toBe("wasm");
    expect(reason).toBe(`bubblewrap: ${missing.reason}; ${UNTRIED}`);
    expect(wasm.asked).toEqual([]);
    expect((await lazy.tried()).reason).toBe(
      `bubblewrap: ${missing.reason}; wasm: a trial run succeeded`,
    );
    expect(wasm.asked).toEqual(["probe"]);
  });

  test("is tried by its start", async () => {
    const wasm = sandbox("wasm");
    await using lazy = new LazySandbox("wasm", [wasm]);
    await lazy.check();
    await lazy.open(options);
    expect(wasm.asked).toEqual(["open"]);
  });

  test("that does not start says what to do, where its trial knows", async () => {
    const reason = "a trial run failed: npm install pyodide@314";
    const broken = sandbox("wasm", { usable: false, reason, opens: false });
    await expect(new LazySandbox("wasm", [broken]).open(options)).rejects.toThrow(
      `sandbox must be one that works here, got "wasm": ${reason}`,
    );
    const odd = sandbox("wasm", { opens: false });
    await expect(new LazySandbox("wasm", [odd]).open(options)).rejects.toThrow("it does not start");
    expect(odd.asked).toEqual(["open", "probe"]);
  });

  test("whose start is called off is not tried", async () => {
    const wasm = sandbox("wasm", { opens: false });
    const signal = AbortSignal.abort(new Error("called off"));
    const opening = new LazySandbox("wasm", [wasm]).open({ ...options, signal });
    await expect(opening).rejects.toThrow("called off");
    expect(wasm.asked).toEqual(["open"]);
  });

  test("is there, of the real ones, before it could have been tried", async () => {
    await using lazy = new LazySandbox("wasm");
    const started = performance.now();
    await lazy.check();
    expect((await lazy.chosen()).reason).toBe(UNTRIED);
    expect(performance.now() - started).toBeLessThan(500); // a trial takes two seconds
  });
});
