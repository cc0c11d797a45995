import { existsSync } from "node:fs";
import { describe } from "vitest";
import { attempt } from "../support/attacks/attempt.ts";
import { attackWhileSwapping, type SwappedTree } from "../support/attacks/swapped-tree.ts";

const surface = "host files";
const shows = "Each folder is opened without following links and the next step starts from it.";

/** The race remains where a folder cannot be used by its descriptor. */
const hasDescriptorPaths = existsSync("/proc/self/fd");

type Attack = (tree: SwappedTree, round: number) => Promise<unknown>;

const attacks: readonly (readonly [string, Attack])[] = [
  ["reads a file", ({ filesystem }) => filesystem.readText("dir/f")],
  ["reads lines of a nested file", ({ filesystem }) => filesystem.read("dir/sub/f")],
  ["overwrites a file", ({ filesystem }) => filesystem.writeText("dir/f", "overwritten")],
  ["creates a file", ({ filesystem }, round) => filesystem.writeText(`dir/new${round}`, "x")],
  [
    "creates a file in new folders",
    ({ filesystem }, round) => filesystem.writeText(`dir/a${round}/b/c`, "x"),
  ],
  [
    "deletes a file",
    async ({ filesystem }) => {
      await filesystem.delete("dir/f").catch(() => {});
      await filesystem.writeText("dir/f", "in the root");
    },
  ],
  ["lists a folder", ({ filesystem }) => filesystem.listDir("dir")],
  ["creates a folder", ({ filesystem }, round) => filesystem.mkdir(`dir/folder${round}`)],
];

describe.runIf(hasDescriptorPaths)("a folder that is swapped for a symlink in a tight loop", () => {
  for (const as of ["root", "user"] as const) {
    for (const [what, attack] of attacks) {
      const tries = `${what} while a process swaps its folder for a symlink to the outside`;
      attempt({ finding: "C7", surface, as, tries, shows }, () =>
        attackWhileSwapping(attack, { as }),
      );
    }
  }

  attempt(
    {
      finding: "C7",
      surface,
      tries: "searches all files while a process swaps a folder for a symlink to the outside",
      shows,
    },
    () => attackWhileSwapping(({ filesystem }) => filesystem.grep("secret"), { tries: 20 }),
  );

  attempt(
    {
      finding: "C7",
      surface,
      tries: "undoes a change while a process swaps its folder for a symlink to the outside",
      shows:
        "The folders are opened again without following links before the old file is restored.",
    },
    () =>
      attackWhileSwapping(async ({ filesystem }, round) => {
        const snapshot = await filesystem.snapshot();
        await filesystem.writeText("dir/f", `round ${round}`).catch(() => {});
        await filesystem.writeText(`dir/new${round}/f`, "x").catch(() => {});
        await filesystem.restore(snapshot).catch(() => {});
        return await filesystem.readText("dir/f");
      }),
  );
});
