import { expect, it } from "vitest";
import { toContainerLimits } from "../container-limits.ts";
import { createContainerGroup } from "./create-container-group.ts";
import { reportLimits } from "./report-limits.ts";

const limits = toContainerLimits({ root: "/", memoryBytes: 1_000 });
const failing = {
  control: {
    means: "cgroup v9",
    createGroup: () => {
      throw new Error("EBUSY");
    },
  },
};
const missing = { control: null, reason: "no cgroups. Run as root" };

it("falls back to watching if the group cannot be created, unless enforcement is required", () => {
  expect(createContainerGroup(missing, limits, "watched")).toBe(null);
  expect(createContainerGroup(failing, limits)).toBe(null);
  expect(() => createContainerGroup(failing, limits, "enforced")).toThrow(
    "The container's limits cannot be enforced: Error: EBUSY",
  );
});

it("reports memory and processes as enforced by a group, and otherwise why memory is only watched", () => {
  expect(reportLimits(failing, true)).toEqual({
    ...{ memory: "enforced", processes: "enforced", disk: "enforced" },
    means: "cgroup v9",
  });
  expect(reportLimits(missing, false)).toEqual({
    ...{ memory: "watched", processes: "enforced", disk: "watched" },
    means: "rlimits and measurements (no cgroups. Run as root)",
  });
});
