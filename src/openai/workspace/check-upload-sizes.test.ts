import { truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import { Session } from "../../session/session.ts";
import { MAX_FILE_BYTES } from "../http/stored-files.ts";
import { checkSingleSizes, checkUploadSizes } from "./check-upload-sizes.ts";
import { OpenAIContainerWorkspaceSection } from "./container-workspace-section.ts";
import { createMountWorkspace } from "./mount-workspace.ts";

/** Creates a folder with sparse files of these sizes, which take no space. */
function createFolder(sizes: Readonly<Record<string, number>>): string {
  const folder = temporaryTree(Object.fromEntries(Object.keys(sizes).map((path) => [path, ""])));
  for (const [path, bytes] of Object.entries(sizes)) truncateSync(join(folder, path), bytes);
  return folder;
}

function createPlan(sizes: Readonly<Record<string, number>>) {
  const mounts = [{ hostPath: createFolder(sizes), mountPath: "p" }];
  return planMounts(mounts, { allowedHostRoots: "any" });
}

const ARCHIVE_TOO_LARGE =
  /The workspace's files are \d+ bytes long as one archive, and one upload can have at most 536870912\. The largest are "p\/video\.bin" \(\d+ bytes\)/;

describe("checkUploadSizes()", () => {
  const HALF = MAX_FILE_BYTES / 2;

  test("limits all files together, as one archive", () => {
    const large = createPlan({ "video.bin": HALF, "b.bin": HALF - 4_096 });
    const tooLarge = createPlan({ "video.bin": HALF, "b.bin": HALF - 1_024 });
    for (const unpack of ["bootstrap", "prompt"] as const) {
      expect(() => checkUploadSizes(large, unpack)).not.toThrow();
      expect(() => checkUploadSizes(tooLarge, unpack)).toThrow(ARCHIVE_TOO_LARGE);
    }
  });

  test('limits each file alone with unpack "files"', () => {
    const full = { "a.bin": MAX_FILE_BYTES, "b.bin": MAX_FILE_BYTES };
    expect(() => checkUploadSizes(createPlan(full), "files")).not.toThrow();
    const tooLarge = createPlan({ ...full, "c.bin": MAX_FILE_BYTES + 1 });
    expect(() => checkUploadSizes(tooLarge, "files")).toThrow('"p/c.bin" (536870913 bytes)');
  });
});

test("checkSingleSizes() names the files that are too large one by one", () => {
  const allowed = { path: "data.bin", bytes: MAX_FILE_BYTES };
  expect(() => checkSingleSizes([allowed])).not.toThrow();
  const large = { path: "movie.bin", bytes: MAX_FILE_BYTES + 1 };
  expect(() => checkSingleSizes([allowed, large])).toThrow(
    'One upload can have at most 536870912 bytes. The largest are "movie.bin" (536870913 bytes). Exclude',
  );
});

describe("mounts that are too large for an upload", () => {
  test("are rejected by the section's constructor", () => {
    const hostPath = createFolder({ "video.bin": MAX_FILE_BYTES });
    const create = (excludeGlob: readonly string[]) =>
      new OpenAIContainerWorkspaceSection({
        session: new Session(),
        mounts: [{ hostPath, mountPath: "p", excludeGlob }],
        allowedHostRoots: "any",
      });
    expect(() => create([])).toThrow(ARCHIVE_TOO_LARGE);
    const section = create(["*.bin"]);
    onTestFinished(async () => void (await section.cleanup()));
    expect(section.mountPreviews).toMatchObject([{ files: 0 }]);
  });

  test("are rejected for a tool's hostMounts", () => {
    const hostMounts = [{ hostPath: createFolder({ "video.bin": 2 ** 30 }), mountPath: "p" }];
    const container = { hostMounts, allowedHostRoots: "any" } as const;
    expect(() => createMountWorkspace({ type: "auto", ...container }, "python")).toThrow(
      ARCHIVE_TOO_LARGE,
    );
  });
});
