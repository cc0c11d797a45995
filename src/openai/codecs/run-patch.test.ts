import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRealContext } from "../../../tests/support/tool-context.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { applyPatchCodec } from "./apply-patch.ts";

/** Runs one operation on the tool's file system or on a workspace's. */
async function runOperation(
  operation: object,
  { filesystem, workspace }: { filesystem?: Filesystem; workspace?: Filesystem },
) {
  const tool = applyPatchTool({}, { filesystem });
  const item = { type: "apply_patch_call", id: "apc_1", call_id: "call_1", operation };
  const [call] = applyPatchCodec.delegatedCalls?.([item], tool) ?? [];
  return await call?.run(await createRealContext(workspace));
}

async function createTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-patch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const makers: [string, () => Promise<Filesystem>][] = [
  ["in memory", async () => new InMemoryFilesystem()],
  ["on the host", async () => new HostFilesystem(await createTemporaryFolder())],
];

describe.each(makers)("apply_patch on files %s", (_, make) => {
  test("creates a file", async () => {
    const filesystem = await make();
    const operation = { type: "create_file", path: "src/a.txt", diff: "+one\n+two\n" };
    const message = 'Created "src/a.txt"';
    expect(await runOperation(operation, { filesystem })).toEqual({
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

  test("updates a file", async () => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\ntwo\n");
    const operation = { type: "update_file", path: "a.txt", diff: "@@\n one\n-two\n+three\n" };
    expect(await runOperation(operation, { filesystem })).toMatchObject({
      success: true,
      message: 'Updated "a.txt"',
      output: { calls: [{ operation: "update", success: true }] },
    });
    expect(await filesystem.readText("a.txt")).toBe("one\nthree\n");
  });

  test("updates a file with mixed line endings", async () => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\rtwo\r\nthree\nfour\rfive");
    const diff = "@@\r\n two\r\n-three\r\n+3\r\n four\r\n";
    const operation = { type: "update_file", path: "a.txt", diff };
    expect(await runOperation(operation, { filesystem })).toMatchObject({ success: true });
    expect(await filesystem.readText("a.txt")).toBe("one\rtwo\r\n3\rfour\rfive");
  });

  test("deletes a file", async () => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\n");
    expect(
      await runOperation({ type: "delete_file", path: "a.txt" }, { filesystem }),
    ).toMatchObject({
      success: true,
      message: 'Deleted "a.txt"',
    });
    expect(await filesystem.exists("a.txt")).toBe(false);
  });

  test.each([
    ["a hunk that does not fit", { type: "update_file", path: "a.txt", diff: "@@\n-nine\n+ten\n" }],
    ["a missing file", { type: "update_file", path: "b.txt", diff: "@@\n-a\n+b\n" }],
    ["a missing file to delete", { type: "delete_file", path: "b.txt" }],
    ["lines without a sign", { type: "create_file", path: "b.txt", diff: "plain\n" }],
    ["a path that leaves the root", { type: "create_file", path: "../b.txt", diff: "+a\n" }],
    ["an absolute path", { type: "create_file", path: "/tmp/b.txt", diff: "+a\n" }],
    ["a path with a NUL", { type: "create_file", path: "b\0.txt", diff: "+a\n" }],
    ["the root", { type: "delete_file", path: "." }],
    ["no path", { type: "create_file", diff: "+a\n" }],
    ["no diff", { type: "create_file", path: "b.txt" }],
    ["a diff that is not a string", { type: "update_file", path: "a.txt", diff: ["+a"] }],
  ])("reports %s to the model and changes nothing", async (_what, operation) => {
    const filesystem = await make();
    await filesystem.writeText("a.txt", "one\n");
    const outcome = await runOperation(operation, { filesystem });
    expect(outcome).toMatchObject({ success: false, message: expect.stringMatching(/^Patch/) });
    expect(outcome?.output?.calls).toEqual([
      expect.objectContaining({ success: false, message: outcome?.message }),
    ]);
    expect(await filesystem.glob("*")).toEqual(["a.txt"]);
    expect(await filesystem.readText("a.txt")).toBe("one\n");
  });
});

test("apply_patch does not follow a symlink out of the root", async () => {
  const outside = await createTemporaryFolder();
  const folder = await createTemporaryFolder();
  await writeFile(join(outside, "secret.txt"), "secret\n");
  await symlink(outside, join(folder, "out"));
  const filesystem = new HostFilesystem(folder);
  const operation = { type: "update_file", path: "out/secret.txt", diff: "@@\n-secret\n+gone\n" };
  expect(await runOperation(operation, { filesystem })).toMatchObject({ success: false });
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret\n");
});

test.each([
  [{ type: "rename_file", path: "a.txt" }, '"rename_file"'],
  [{}, "undefined"],
])("apply_patch rejects the unknown operation %j", async (operation, shown) => {
  expect(await runOperation(operation, { filesystem: new InMemoryFilesystem() })).toEqual({
    output: null,
    success: false,
    message: `Unknown operation ${shown}. Use create_file, update_file or delete_file.`,
  });
});

test("apply_patch reports a missing diff", async () => {
  const operation = { type: "create_file", path: "b.txt", diff: null };
  expect(await runOperation(operation, { filesystem: new InMemoryFilesystem() })).toMatchObject({
    message: 'Patch of "b.txt" has no diff. Use { type, path, diff }.',
  });
});

test("apply_patch reports a read-only file system to the model", async () => {
  const filesystem = new InMemoryFilesystem({ readOnly: true });
  const operation = { type: "create_file", path: "a.txt", diff: "+a\n" };
  expect(await runOperation(operation, { filesystem })).toMatchObject({
    success: false,
    message: expect.stringContaining("read-only"),
  });
});

test("apply_patch uses the workspace's files if the tool has no file system", async () => {
  const workspace = new InMemoryFilesystem();
  const filesystem = new InMemoryFilesystem();
  const operation = { type: "create_file", path: "a.txt", diff: "+a\n" };
  await runOperation(operation, { workspace });
  await runOperation({ ...operation, path: "b.txt" }, { workspace, filesystem });
  expect(await workspace.glob("*")).toEqual(["a.txt"]);
  expect(await filesystem.glob("*")).toEqual(["b.txt"]);
});

test("apply_patch throws with a remedy without a file system", async () => {
  const running = runOperation({ type: "delete_file", path: "a.txt" }, {});
  await expect(running).rejects.toThrow(InvalidOptionError);
  await expect(running).rejects.toThrow(
    'Hosted tool "apply_patch" filesystem must be a Filesystem if the prompt has no workspace, got null. Create the tool with applyPatchTool(config, { filesystem }), or add a workspace section.',
  );
});

test("apply_patch rethrows unexpected file system errors", async () => {
  class Broken extends InMemoryFilesystem {
    override snapshot(): never {
      throw new TypeError("disk on fire");
    }
  }
  const operation = { type: "create_file", path: "a.txt", diff: "+a\n" };
  await expect(runOperation(operation, { filesystem: new Broken() })).rejects.toThrow(
    "disk on fire",
  );
});
