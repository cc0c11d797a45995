import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, type TestOptions, test } from "vitest";

/** One attack, declared as a test. */
export interface Attack {
  /** Row of the audit that it comes from, such as `"C3"`, or `"own"`. */
  readonly finding: string;
  /** The target, such as `"bubblewrap"`, `"server"` or `"host files"`. */
  readonly surface: string;
  /** The user that runs the attacked part. @default the user that runs the tests */
  readonly as?: "root" | "user" | undefined;
  /** Describes the attempt. It is the name of the test. */
  readonly tries: string;
  /** What happens instead, in one sentence for `docs/attacks.md`. */
  readonly shows: string;
}

/** The outcome of an attack. */
export interface AttackOutcome {
  /** How often it was tried. @default 1 */
  readonly tried?: number | undefined;
  /** The tries that succeeded, one entry each. Empty if the barrier held. */
  readonly through: readonly string[];
}

/** A line of the file that `print-attacks.ts` reads. */
export interface AttackRecord extends Attack {
  readonly tried: number;
  readonly through: number;
  /** The test's file, from the root of the repository. */
  readonly file: string;
}

/** Declares an attack as a test that fails if anything gets through. Its counts are printed after all tests. */
export function attempt(
  attack: Attack,
  work: () => Promise<AttackOutcome>,
  options: TestOptions = {},
): void {
  const who = attack.as === undefined ? "" : ` as ${attack.as}`;
  test(`${attack.finding}, ${attack.surface}${who}: ${attack.tries}`, options, async () => {
    const { through, tried = 1 } = await work();
    const file = relative(process.cwd(), expect.getState().testPath ?? "");
    record({ ...attack, tried, through: through.length, file });
    expect(through, attack.tries).toEqual([]);
  });
}

function record(attack: AttackRecord): void {
  const folder = process.env["WINK_ATTACKS"];
  if (folder) appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(attack)}\n`);
}
