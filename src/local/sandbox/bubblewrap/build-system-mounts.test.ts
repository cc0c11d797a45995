import { symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { buildSystemMounts } from "./build-system-mounts.ts";

describe("buildSystemMounts()", () => {
  test("mounts /usr, and the top-level folders as links or as folders", () => {
    const host = temporaryTree({ usr: null, sbin: null });
    symlinkSync("usr/bin", `${host}/bin`);
    expect(buildSystemMounts("/srv/c", host)).toEqual([
      ...["--ro-bind", `${host}/usr`, "/usr"],
      ...["--symlink", "usr/bin", "/bin"],
      ...["--ro-bind", `${host}/sbin`, "/sbin"],
    ]);
  });

  test("hides /usr/src and /usr/local except Python's packages", () => {
    const host = temporaryTree({
      "usr/src/app/.env": "SECRET=1",
      "usr/local/lib/python3.11/dist-packages/mine.py": "",
      "usr/local/lib/other": "",
    });
    const packages = "/usr/local/lib/python3.11";
    expect(buildSystemMounts("/srv/c", host).slice(3)).toEqual([
      ...["--perms", "0755", "--tmpfs", "/usr/src", "--perms", "0755", "--tmpfs", "/usr/local"],
      ...["--perms", "0755", "--dir", "/usr/local/lib"],
      ...["--ro-bind", `${host}${packages}`, packages],
      ...["--remount-ro", "/usr/src", "--remount-ro", "/usr/local"],
    ]);
  });

  test("hides other containers that are stored below /usr", () => {
    const host = temporaryTree({ usr: null });
    expect(buildSystemMounts("/usr/share/c/1", host).slice(3)).toEqual(["--tmpfs", "/usr/share/c"]);
  });
});
