import { describe, expect, test } from "vitest";
import { type Barrier, BUBBLEWRAP, chooseBarrier, NO_BARRIER, UNSHARE } from "./barrier.ts";

describe("The barrier around the wasm sandbox", () => {
  test("is the first one behind which Node starts, or none", async () => {
    const missing: Barrier = { ...UNSHARE, wrap: () => ["/nowhere/bwrap"] };
    const silent: Barrier = { ...UNSHARE, wrap: () => ["/bin/true"] };
    const works: Barrier = { ...UNSHARE, wrap: (program) => program };
    expect(await chooseBarrier([missing, silent])).toBe(NO_BARRIER);
    const isLinux = process.platform === "linux";
    expect(await chooseBarrier([missing, works])).toBe(isLinux ? works : NO_BARRIER);
  });

  test("of bubblewrap has no network and only the given files", () => {
    const command = BUBBLEWRAP.wrap(["node", "main.js"], ["/usr/bin/env", "/nowhere/at/all"]);
    expect(command).toContain("--unshare-all");
    expect(command.slice(-3)).toEqual(["--", "node", "main.js"]);
    expect(command.join(" ")).toContain("--ro-bind /usr/bin/env /usr/bin/env");
    expect(command).not.toContain("/nowhere/at/all");
    expect(command).not.toContain("--bind");
    const unfiltered = { ...BUBBLEWRAP, filter: null };
    expect(unfiltered.wrap(["node"], [])).not.toContain("--seccomp");
  });

  test("says that it is no security boundary unless it is bubblewrap", () => {
    for (const { description } of [UNSHARE, NO_BARRIER])
      expect(description).toContain("not a security boundary");
    expect(BUBBLEWRAP.description).not.toContain("not a security boundary");
    expect(UNSHARE.wrap(["node"], []).slice(-2)).toEqual(["--", "node"]);
    expect(NO_BARRIER.wrap(["node"], [])).toEqual(["node"]);
  });
});
