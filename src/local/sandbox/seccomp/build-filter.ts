import { ALLOWED_CALLS } from "./allowed-calls.ts";
import { type ArgumentTest, CALL_RULES, type CallRule, ENOSYS, EPERM } from "./call-rules.ts";
import { encodeFilter, type Instruction } from "./encode-filter.ts";
import { SYSTEM_CALLS } from "./system-calls.ts";

/**
 * Builds the seccomp filter for `bwrap --seccomp`, or returns `null` for an unknown architecture. It is an
 * allow list: a system call that is neither in `allowed-calls.ts` nor passes a rule of `call-rules.ts` fails.
 */
export function buildSeccompFilter(architecture: string): Buffer | null {
  const audit = AUDIT_NAMES.get(architecture);
  const numbers = SYSTEM_CALLS.get(architecture);
  if (audit === undefined || numbers === undefined) return null;
  const program: Instruction[] = [
    loadWord(ARCHITECTURE_OFFSET),
    [JUMP_IF_EQUAL, 1, 0, audit],
    returnErrno(EPERM),
    loadWord(NUMBER_OFFSET),
    // Numbers from here on are the x32 variants of the same calls.
    [JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32_BIT],
    returnErrno(EPERM),
    // Calls that are newer than the table: callers fall back to older calls.
    [JUMP_IF_GREATER_OR_EQUAL, 0, 1, Math.max(...numbers.values()) + 1],
    returnErrno(ENOSYS),
  ];
  // The kernel remembers which numbers are always allowed and skips the filter for them, so order rarely matters.
  for (const rule of CALL_RULES) {
    for (const name of rule.names) {
      const number = numbers.get(name);
      if (number !== undefined) program.push(...applyRule(number, rule));
    }
  }
  for (const name of ALLOWED_CALLS) {
    const number = numbers.get(name);
    if (number !== undefined) program.push([JUMP_IF_EQUAL, 0, 1, number], ALLOW);
  }
  return encodeFilter([...program, returnErrno(EPERM)]);
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const RETURN = 0x06;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const FIRST_ARGUMENT_OFFSET = 16;
const X32_BIT = 0x4000_0000;
const ALLOW: Instruction = [RETURN, 0, 0, 0x7fff_0000];

/** The kernel's names for the two little-endian architectures (`AUDIT_ARCH_`). */
const AUDIT_NAMES: ReadonlyMap<string, number> = new Map([
  ["x64", 0xc000_003e],
  ["arm64", 0xc000_00b7],
]);

/** Ends in a return, so the number of the call need not be loaded again. */
function applyRule(number: number, { allowed, errno }: CallRule): readonly Instruction[] {
  const body = [...allowed.flatMap(allowIfAll), returnErrno(errno)];
  return [[JUMP_IF_EQUAL, 0, body.length, number], ...body];
}

/** Allows the call if every test holds, otherwise continues after it. */
function allowIfAll(tests: readonly ArgumentTest[]): readonly Instruction[] {
  let program: readonly Instruction[] = [ALLOW];
  for (const test of tests.toReversed()) program = [...testArgument(test, program), ...program];
  return program;
}

/** Continues with `program` if the test holds, otherwise skips it. */
function testArgument(
  { argument, mask = 0xffff_ffff, equals }: ArgumentTest,
  program: readonly Instruction[],
): readonly Instruction[] {
  const lower = loadWord(FIRST_ARGUMENT_OFFSET + 8 * argument);
  const skip = program.length;
  if (mask === "all 64") {
    const upper = loadWord(FIRST_ARGUMENT_OFFSET + 8 * argument + 4);
    return [lower, [JUMP_IF_EQUAL, 0, skip + 2, equals], upper, [JUMP_IF_EQUAL, 0, skip, 0]];
  }
  const compare: Instruction = [JUMP_IF_EQUAL, 0, skip, equals];
  return mask === 0xffff_ffff ? [lower, compare] : [lower, [AND, 0, 0, mask], compare];
}

function loadWord(offset: number): Instruction {
  return [LOAD_WORD, 0, 0, offset];
}

function returnErrno(errno: number): Instruction {
  return [RETURN, 0, 0, 0x0005_0000 | errno];
}
