import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createStubEngine } from "../../../../tests/support/local/stub-engine.ts";
import { identifyCurrentProcess } from "../../../host/process-identity.ts";
import { createContainerName, isLeftBehind, sweepContainers } from "./container-name.ts";

const { host, pid } = identifyCurrentProcess();

function encodeOwner(owner: unknown): string {
  return `wink-sandbox.${Buffer.from(JSON.stringify(owner)).toString("base64url")}.00ff`;
}

const LEFT_BEHIND = encodeOwner([pid, "an-earlier-process", host]);

describe("A container's name", () => {
  test("is accepted by engines and differs each time", () => {
    const names = [createContainerName(), createContainerName()];
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/);
    expect(new Set(names).size).toBe(2);
  });

  test("tells whether its owner has ended", () => {
    expect(isLeftBehind(createContainerName())).toBe(false);
    expect(isLeftBehind(LEFT_BEHIND)).toBe(true);
    expect(isLeftBehind(encodeOwner([2 ** 30, "x", host]))).toBe(true);
  });

  test("of another host or another program counts as in use", () => {
    expect(isLeftBehind(encodeOwner([2 ** 30, "x", "elsewhere"]))).toBe(false);
    for (const owner of [{ pid: 1 }, ["1", "x", host], [1, 2, host], [1, "x", 3], null]) {
      expect(isLeftBehind(encodeOwner(owner))).toBe(false);
    }
    for (const name of ["wink-sandbox.", "wink-sandbox.?.?", "database", ""]) {
      expect(isLeftBehind(name)).toBe(false);
    }
  });
});

describe("sweepContainers", () => {
  test("removes exactly the containers that were left behind", async () => {
    const names = [createContainerName(), LEFT_BEHIND, "database", "--all"];
    const engine = createStubEngine({ ps: `printf '%s\\n' ${names.join(" ")}`, rm: ":" });
    await sweepContainers(engine);
    expect(readFileSync(engine.calls, "utf8").split("\n")).toEqual([
      "ps --all --filter label=weakincentives.sandbox=1 --filter name=wink-sandbox. --format {{.Names}}",
      `rm --force ${LEFT_BEHIND}`,
      "",
    ]);
  });

  test("removes nothing if nothing was left behind, or the engine does not answer", async () => {
    for (const ps of [":", "exit 1"]) {
      const engine = createStubEngine({ ps });
      await sweepContainers(engine);
      expect(readFileSync(engine.calls, "utf8")).not.toContain("rm --force");
    }
  });
});
