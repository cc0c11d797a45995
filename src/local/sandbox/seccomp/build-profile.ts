import { ALLOWED_CALLS } from "./allowed-calls.ts";
import { type ArgumentTest, CALL_RULES, EPERM } from "./call-rules.ts";

/** A seccomp profile in the JSON form that Docker and Podman read (`--security-opt seccomp=FILE`). */
export interface SeccompProfile {
  readonly defaultAction: "SCMP_ACT_ERRNO";
  readonly defaultErrnoRet: number;
  readonly archMap: readonly {
    readonly architecture: string;
    readonly subArchitectures: readonly string[];
  }[];
  readonly syscalls: readonly ProfileEntry[];
}

interface ProfileEntry {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly errnoRet?: number;
  readonly args?: readonly ProfileArgument[];
}

interface ProfileArgument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ";
}

/**
 * Builds the allow list of {@link buildSeccompFilter} as a profile. One difference: a call whose arguments are
 * refused fails with EPERM, because a profile has one error per call and no "otherwise".
 */
export function buildSeccompProfile(): SeccompProfile {
  const rules = CALL_RULES.flatMap(({ names, allowed, errno }): readonly ProfileEntry[] =>
    allowed.length === 0
      ? [{ names, action: "SCMP_ACT_ERRNO", errnoRet: errno }]
      : allowed.map((tests) => ({ names, action: "SCMP_ACT_ALLOW", args: tests.map(toArgument) })),
  );
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: EPERM,
    archMap: [
      { architecture: "SCMP_ARCH_X86_64", subArchitectures: [] },
      { architecture: "SCMP_ARCH_AARCH64", subArchitectures: [] },
    ],
    syscalls: [{ names: ALLOWED_CALLS, action: "SCMP_ACT_ALLOW" }, ...rules],
  };
}

function toArgument({
  argument: index,
  mask = 0xffff_ffff,
  equals,
}: ArgumentTest): ProfileArgument {
  return mask === "all 64"
    ? { index, value: equals, op: "SCMP_CMP_EQ" }
    : { index, value: mask, valueTwo: equals, op: "SCMP_CMP_MASKED_EQ" };
}
