import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { planMounts } from "../plan-mounts.ts";
import { findKeyFiles } from "./find-key-files.ts";
import { withWithheld } from "./withheld-file.ts";

const KEY = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2)}\n`;
const reason = "contains a private key";

test("withWithheld() moves the files to the withheld ones of their mount", () => {
  const folder = temporaryTree({
    "one/a.txt": KEY,
    "one/b.txt": "b",
    "two/c.txt": "c",
    "d.txt": KEY,
  });
  const mounts = [
    { hostPath: join(folder, "one"), mountPath: "one" },
    { hostPath: join(folder, "two"), mountPath: "two" },
    { hostPath: join(folder, "d.txt"), mountPath: "renamed.txt" },
  ];
  const plan = planMounts(mounts, { allowedHostRoots: "any" });
  const found = findKeyFiles(plan.files);
  expect(found).toEqual([
    { path: "one/a.txt", reason },
    { path: "renamed.txt", reason },
  ]);
  const [one, two, file] = withWithheld(plan.previews, found, () => KEY.length);
  expect(one).toMatchObject({ files: 1, bytes: 1, entries: ["b.txt"], withheld: ["a.txt"] });
  expect(one).toMatchObject({ skipped: [{ path: "a.txt", reason }], skippedCount: 1 });
  expect(two).toBe(plan.previews[1]);
  expect(file).toMatchObject({ files: 0, bytes: 0, entries: [], withheld: ["d.txt"] });
});

test("withWithheld() takes the files of a mount at the root", () => {
  const folder = temporaryTree({ "sub/a.txt": KEY });
  const plan = planMounts([{ hostPath: folder, mountPath: "." }], { allowedHostRoots: "any" });
  const [preview] = withWithheld(plan.previews, findKeyFiles(plan.files), () => KEY.length);
  expect(preview).toMatchObject({ files: 0, withheld: ["sub/a.txt"] });
});

test("findKeyFiles() skips files that are allowed, and names a file that cannot be read", () => {
  const folder = temporaryTree({ "a.txt": KEY });
  const options = { allowedHostRoots: "any", allowSecrets: ["a.txt"] } as const;
  expect(findKeyFiles(planMounts([{ hostPath: folder }], options).files)).toEqual([]);
  const plan = planMounts([{ hostPath: folder }], { allowedHostRoots: "any" });
  rmSync(join(folder, "a.txt"));
  const message = "does not exist. Make it readable, or add it to excludeGlob.";
  expect(() => findKeyFiles(plan.files)).toThrow(message);
});
