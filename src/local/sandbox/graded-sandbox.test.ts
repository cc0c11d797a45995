import { describe, expect, test } from "vitest";
import { combineLimits, formatLimits } from "./combine-limits.ts";
import { GradedSandbox } from "./graded-sandbox.ts";
import { LazySandbox } from "./lazy-sandbox.ts";
import type { LimitGrade, LimitReport, SandboxOptions } from "./sandbox.ts";

const ENFORCED: LimitReport = {
  ...{ memory: "enforced", processes: "enforced", disk: "watched" },
  means: "cgroup v2",
};
const WATCHED: LimitReport = { ...ENFORCED, memory: "watched", means: "rlimits" };
const NO_DISKS = { usable: false as const, reason: "disk images need Linux and root" };

function grade(
  limits: LimitReport | undefined,
  {
    require = "watched" as LimitGrade,
    disks = { usable: true as const } as Parameters<typeof combineLimits>[1],
  } = {},
) {
  const opened: SandboxOptions[] = [];
  const messages: string[] = [];
  let probes = 0;
  const own = {
    name: "own",
    isolation: "None.",
    async probe() {
      if (++probes === 1 && limits === WATCHED) return { usable: false, reason: "not yet" };
      return { usable: true, reason: "works", limits };
    },
    async open(options: SandboxOptions) {
      opened.push(options);
      return { python: async () => ({}), shell: async () => ({}) } as never;
    },
  };
  const sandbox = new GradedSandbox({
    sandbox: new LazySandbox(own),
    require,
    findDiskSupport: async () => disks,
    onWatched: (message) => messages.push(message),
  });
  return { sandbox, opened, messages };
}

const OPTIONS = { root: "/", memoryBytes: 1 };

describe("The sandbox of a provider", () => {
  test("has a header only after it was chosen, and no warning if every limit is enforced", async () => {
    const { messages, opened, sandbox } = grade(ENFORCED, { require: "enforced" });
    expect(sandbox.header).toBe(null);
    await sandbox.open(OPTIONS);
    expect(opened).toEqual([{ ...OPTIONS, require: "enforced" }]);
    expect(sandbox.header).toBe("own; memory=enforced; processes=enforced; disk=enforced");
    expect(messages).toEqual([]);
    const limits = { ...ENFORCED, disk: "enforced", means: "cgroup v2, disk images" };
    expect(await sandbox.probe()).toEqual({ usable: true, reason: "works", limits });
    expect((await sandbox.choose(false)).sandbox).toBe((await sandbox.choose(true)).sandbox);
    await sandbox[Symbol.asyncDispose]();
  });

  test("warns once if a limit is only watched, and tries again after a failed choice", async () => {
    const { messages, sandbox } = grade(WATCHED, { disks: NO_DISKS });
    await sandbox.check(); // does not choose yet
    await expect(sandbox.open(OPTIONS)).rejects.toThrow("Not yet");
    await sandbox.open(OPTIONS);
    await sandbox.open(OPTIONS);
    expect(messages).toEqual([
      "The limits on memory and disk of the own sandbox are watched, not enforced, so code can briefly exceed them: " +
        'rlimits; disk: disk images need Linux and root. Set limits.require to "enforced" to refuse this.',
    ]);
  });

  test("is refused before any code runs if enforcement is required and missing", async () => {
    const { messages, opened, sandbox } = grade(ENFORCED, { require: "enforced", disks: NO_DISKS });
    const refusal = "here disk is only watched (cgroup v2; disk: disk images need Linux and root)";
    await expect(sandbox.check()).rejects.toThrow(refusal);
    await expect(sandbox.open(OPTIONS)).rejects.toThrow(refusal);
    expect({ opened, messages }).toEqual({ opened: [], messages: [] });
  });

  test("causes no warning if it is the caller's own and reports nothing", async () => {
    const { messages, sandbox } = grade(undefined, { disks: NO_DISKS });
    expect(await sandbox.grade()).toMatchObject({ memory: "watched", disk: "watched" });
    expect(messages).toEqual([]);
  });
});

test("a sandbox that enforces its disk limit by itself needs no disk image", () => {
  const report: LimitReport = { ...ENFORCED, disk: "enforced" };
  expect(combineLimits(report, NO_DISKS)).toBe(report);
});

test("the header has no characters that are not allowed in it", () => {
  expect(formatLimits("my; own\n", WATCHED)).toBe(
    "my--own-; memory=watched; processes=enforced; disk=watched",
  );
});
