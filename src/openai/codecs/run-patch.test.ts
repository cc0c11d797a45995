import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { realContext } from "../../../tests/support/tool-context.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { applyPatchCodec } from "./apply-patch.ts";

/** Runs one operation on the tool's own files, or on a workspace's. */
async function run(
  operation: object,
  { filesystem, workspace }: { filesystem?: Filesystem; workspace?: Filesystem },
) {
  const tool = applyPatchTool({}, { filesystem });
  const item = { type: "apply_patch_call", id: "apc_1", call_id: "call_1", operation };
  const [call] = applyPatchCodec.asked?.([item], tool) ?? [];
  return await call?.run(await realContext(workspace));
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-patch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const makers: [string, () => Promise<Filesystem>][] = [
  ["in memory", async () => new InMemoryFilesystem()],
  ["of the host", async () => new HostFilesystem(await temporaryFolder())],
];

describe.each(makers)("on files %s", (_, make) => {
  test("a file is created", async () => {
    const filesystem = await make();
    const operation = { type: "create_file", path: "src/a.txt", diff: "+one\n+two\n" };
    const message = 'Created "src/a.txt"';
    expect(await run(operation, { filesystem })).toEqual({
      output: {
        calls: [
          { callId: "call_1", operation: "create", path: "src/a.txt", success: true, message },
        ],
      },
      success: true,
      message,
    });
    expect(await filesystem.readText("src/a.txt")).toBe("one\ntwo\n");
  });

  test("a file is updated", async () => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\ntwo\n");
    const operation = { type: "update_file", path: "a.txt", diff: "@@\n one\n-two\n+three\n" };
    expect(await run(operation, { filesystem })).toMatchObject({
      success: true,
      message: 'Updated "a.txt"',
      output: { calls: [{ operation: "update", success: true }] },
    });
    expect(await filesystem.readText("a.txt")).toBe("one\nthree\n");
  });

  test("a file is deleted", async () => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\n");
    expect(await run({ type: "delete_file", path: "a.txt" }, { filesystem })).toMatchObject({
      success: true,
      message: 'Deleted "a.txt"',
    });
    expect(await filesystem.exists("a.txt")).toBe(false);
  });

  test.each([
    ["a hunk that does not fit", { type: "update_file", path: "a.txt", diff: "@@\n-nine\n+ten\n" }],
    ["a file that is not there", { type: "update_file", path: "b.txt", diff: "@@\n-a\n+b\n" }],
    ["a file to delete that is not there", { type: "delete_file", path: "b.txt" }],
    ["lines without a sign", { type: "create_file", path: "b.txt", diff: "plain\n" }],
    ["a path that leaves the root", { type: "create_file", path: "../b.txt", diff: "+a\n" }],
    ["an absolute path", { type: "create_file", path: "/tmp/b.txt", diff: "+a\n" }],
    ["a path with a NUL", { type: "create_file", path: "b\0.txt", diff: "+a\n" }],
    ["the root", { type: "delete_file", path: "." }],
    ["no path", { type: "create_file", diff: "+a\n" }],
    ["no diff", { type: "create_file", path: "b.txt" }],
    ["a diff that is no text", { type: "update_file", path: "a.txt", diff: ["+a"] }],
  ])("%s is a failure that the model reads, and changes nothing", async (_what, operation) => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\n");
    const outcome = await run(operation, { filesystem });
    expect(outcome).toMatchObject({ success: false, message: expect.stringMatching(/^Patch/) });
    expect(outcome?.output?.calls).toEqual([
      expect.objectContaining({ success: false, message: outcome?.message }),
    ]);
    expect(await filesystem.glob("*")).toEqual(["a.txt"]);
    expect(await filesystem.readText("a.txt")).toBe("one\n");
  });
});

test("a link that leads out of the host's folder is not followed", async () => {
  const outside = await temporaryFolder();
  const folder = await temporaryFolder();
  await writeFile(join(outside, "secret.txt"), "secret\n");
  await symlink(outside, join(folder, "out"));
  const filesystem = new HostFilesystem(folder);
  const operation = { type: "update_file", path: "out/secret.txt", diff: "@@\n-secret\n+gone\n" };
  expect(await run(operation, { filesystem })).toMatchObject({ success: false });
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret\n");
});

test.each([
  [{ type: "rename_file", path: "a.txt" }, '"rename_file"'],
  [{}, "undefined"],
])("the operation %j is not known", async (operation, shown) => {
  expect(await run(operation, { filesystem: new InMemoryFilesystem() })).toEqual({
    output: null,
    success: false,
    message: `Operation ${shown} is not known: write create_file, update_file or delete_file`,
  });
});

test("a diff that is missing is asked for", async () => {
  const operation = { type: "create_file", path: "b.txt", diff: null };
  expect(await run(operation, { filesystem: new InMemoryFilesystem() })).toMatchObject({
    message: 'Patch of "b.txt": there is no diff: write { type, path, diff }',
  });
});

test("a file system that cannot be written is a failure that the model reads", async () => {
  const filesystem = new InMemoryFilesystem({ readOnly: true });
  const operation = { type: "create_file", path: "a.txt", diff: "+a\n" };
  expect(await run(operation, { filesystem })).toMatchObject({
    success: false,
    message: expect.stringContaining("read-only"),
  });
});

test("the workspace's files are patched where the tool has none of its own", async () => {
  const workspace = new InMemoryFilesystem();
  const filesystem = new InMemoryFilesystem();
  const operation = { type: "create_file", path: "a.txt", diff: "+a\n" };
  await run(operation, { workspace });
  await run({ ...operation, path: "b.txt" }, { workspace, filesystem });
  expect(await workspace.glob("*")).toEqual(["a.txt"]);
  expect(await filesystem.glob("*")).toEqual(["b.txt"]);
});

test("without any files the caller is told what to do", async () => {
  const running = run({ type: "delete_file", path: "a.txt" }, {});
  await expect(running).rejects.toThrow(InvalidOptionError);
  await expect(running).rejects.toThrow(
    'Hosted tool "apply_patch" filesystem must be a Filesystem where the prompt has no workspace, got null. Make the tool with applyPatchTool(config, { filesystem }), or add a workspace section',
  );
});

test("what breaks in the file system is thrown on", async () => {
  class Broken extends InMemoryFilesystem {
    override snapshot(): never {
      throw new TypeError("disk on fire");
    }
  }
  const operation = { type: "create_file", path: "a.txt", diff: "+a\n" };
  await expect(run(operation, { filesystem: new Broken() })).rejects.toThrow("disk on fire");
});
