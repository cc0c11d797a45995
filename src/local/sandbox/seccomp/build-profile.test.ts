import { expect, test } from "vitest";
import { buildSeccompProfile } from "./build-profile.ts";

test("The profile for Docker refuses by default and has the filter's rules", () => {
  const { defaultAction, defaultErrnoRet, syscalls } = buildSeccompProfile();
  expect({ defaultAction, defaultErrnoRet }).toEqual({
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: 1,
  });
  expect(syscalls[0]?.names).toContain("openat");
  expect(syscalls).toContainEqual({
    names: ["clone3", "openat2"],
    action: "SCMP_ACT_ERRNO",
    errnoRet: 38,
  });
  expect(syscalls).toContainEqual({
    names: ["socket", "socketpair"],
    action: "SCMP_ACT_ALLOW",
    args: [{ index: 0, value: 0xffff_ffff, valueTwo: 1, op: "SCMP_CMP_MASKED_EQ" }],
  });
  expect(syscalls.filter(({ names }) => names.includes("prlimit64"))).toEqual([
    {
      names: ["prlimit64"],
      action: "SCMP_ACT_ALLOW",
      args: [{ index: 2, value: 0, op: "SCMP_CMP_EQ" }],
    },
    {
      names: ["prlimit64"],
      action: "SCMP_ACT_ALLOW",
      args: [{ index: 0, value: 0xffff_ffff, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }],
    },
  ]);
});
