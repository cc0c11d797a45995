import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { WalkedPath } from "./walk-path.ts";

const modes = existsSync("/proc/self/fd") ? [true, false] : [false];

describe.each(modes)("WalkedPath with byDescriptor: %s", (byDescriptor) => {
  /** Describes where a path ends: its kind, and the real path of the entry or of the missing names. */
  function describeEnd(root: string, path: string): string {
    using walked = new WalkedPath(root, path, { byDescriptor });
    const { end } = walked;
    walked.checkInPlace();
    if (end.kind === "found") return `found ${end.entry?.path ?? "the root"}`;
    return end.kind === "missing" ? `missing ${[...end.path, ...end.names].join("/")}` : end.kind;
  }

  test("ends at entries, missing names, files in the way, the outside and a missing root", () => {
    const folder = temporaryTree({ "root/d/f": "", "root/d/e/g": "", outside: "" });
    const root = join(folder, "root");
    for (const [name, target] of Object.entries({
      up: "d/e/..",
      self: ".",
      back: "../root/d",
      absolute: join(root, "d/f"),
      dangling: "d/new/f",
      lost: "gone/../d",
      through: "../outside/x",
      away: "../gone",
      hop: "/proc/self/root/x",
    }))
      symlinkSync(target, join(root, name));
    const ends = Object.entries({
      ".": "found the root",
      d: "found d",
      "d/e/g": "found d/e/g",
      "d/f/x": "below-file",
      "d/new/x": "missing d/new/x",
      up: "found d",
      "up/f": "found d/f",
      self: "found the root",
      "self/self/d": "found d",
      back: "found d",
      "back/f": "found d/f",
      absolute: "found d/f",
      dangling: "missing d/new/f",
      lost: "outside",
      through: "outside",
      away: "outside",
      hop: "outside",
    });
    for (const [path, end] of ends) expect([path, describeEnd(root, path)]).toEqual([path, end]);
    expect(describeEnd(join(folder, "gone"), "f")).toBe("no-root");
    expect(describeEnd(join(folder, "outside"), "f")).toBe("outside");
    expect(describeEnd("/", folder.slice(1))).toBe(`found ${folder.slice(1)}`);
  });

  test("opens a found folder and the root", () => {
    const root = temporaryTree({ "d/f": "" });
    for (const [path, names] of [
      ["d", ["f"]],
      [".", ["d"]],
    ] as const) {
      using walked = new WalkedPath(root, path, { byDescriptor });
      if (walked.end.kind !== "found") return expect.unreachable();
      using folder = walked.open(walked.end.entry);
      expect(folder.listNames()).toEqual(names);
    }
  });

  test("stays in the folder that it entered, or detects that it was replaced", () => {
    const folder = temporaryTree({ "root/d/f": "", "outside/f": "" });
    const root = join(folder, "root");
    using walked = new WalkedPath(root, "d/f", { byDescriptor });
    renameSync(join(root, "d"), join(root, "moved"));
    symlinkSync("../outside", join(root, "d"));
    const check = () => walked.checkInPlace();
    if (byDescriptor) expect(check).not.toThrow();
    else expect(check).toThrow("ENOTDIR");
    rmSync(join(root, "d"));
    mkdirSync(join(root, "d"));
    if (!byDescriptor) expect(check).toThrow("ENOTDIR");
  });
});
