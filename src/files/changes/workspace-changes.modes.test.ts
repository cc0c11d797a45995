import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { mountFiles, readMode } from "../../../tests/support/workspace/mounted-fixture.ts";

describe("a sync of permissions", () => {
  test("carries a chmod of the agent to the host, and reports the file as changed", async () => {
    const files = await mountFiles({ run: "1", private: "2", same: "3" });
    chmodSync(join(files.root, "run"), 0o755);
    chmodSync(join(files.root, "private"), 0o600);
    const before = readMode(files.home, "p/same");
    expect(await files.sync()).toMatchObject({
      ...{ changed: ["p/private", "p/run"], conflicts: [], failed: [] },
    });
    expect(readMode(files.home, "p/run")).toBe(0o755);
    expect(readMode(files.home, "p/private")).toBe(0o600);
    expect(readMode(files.home, "p/same")).toBe(before);
    expect(filesIn(files.home)).toEqual({ "p/run": "1", "p/private": "2", "p/same": "3" });
  });

  test("never sets setuid, setgid or sticky bits", async () => {
    const files = await mountFiles({ a: "1" });
    files.edit({ new: "2" });
    chmodSync(join(files.root, "a"), 0o6755);
    chmodSync(join(files.root, "new"), 0o7755);
    await files.sync();
    expect([readMode(files.home, "p/a"), readMode(files.home, "p/new")]).toEqual([0o755, 0o755]);
  });

  test("carries both the bytes and the permissions of a changed file", async () => {
    const files = await mountFiles({ a: "1" });
    files.edit({ a: "agent", new: "2" });
    chmodSync(join(files.root, "a"), 0o700);
    chmodSync(join(files.root, "new"), 0o640);
    await files.sync();
    expect([readMode(files.home, "p/a"), readMode(files.home, "p/new")]).toEqual([0o700, 0o640]);
    expect(filesIn(files.home)).toEqual({ "p/a": "agent", "p/new": "2" });
  });

  test("keeps a private host file private", async () => {
    const modes = { key: 0o600, tool: 0o700, shared: 0o660 };
    const files = await mountFiles({ key: "1", tool: "2", shared: "3" }, { modes });
    files.edit({ key: "agent", tool: "agent", shared: "agent" });
    chmodSync(join(files.root, "key"), 0o777);
    await files.sync();
    expect(readMode(files.home, "p/key")).toBe(0o700);
    expect(readMode(files.home, "p/tool")).toBe(0o700);
    expect(readMode(files.home, "p/shared")).toBe(0o660);
  });

  test("merges a chmod by the user with an edit or a chmod by the agent", async () => {
    const files = await mountFiles({ a: "1", b: "2", c: "3" });
    files.edit({ a: "agent" });
    chmodSync(join(files.root, "b"), 0o640);
    chmodSync(join(files.root, "c"), 0o755);
    for (const name of ["a", "b"]) chmodSync(join(files.home, "p", name), 0o755);
    files.editHost({ c: "user" });
    expect(await files.sync()).toMatchObject({ conflicts: [], failed: [] });
    expect(filesIn(files.home)).toEqual({ "p/a": "agent", "p/b": "2", "p/c": "user" });
    expect(readMode(files.home, "p/a")).toBe(0o755);
    expect(readMode(files.home, "p/b")).toBe(0o750);
    expect(readMode(files.home, "p/c")).toBe(0o755);
  });

  test("keeps a file that the agent deleted if the user changed its permissions", async () => {
    const files = await mountFiles({ a: "1" });
    files.remove("a");
    chmodSync(join(files.home, "p/a"), 0o755);
    expect(await files.sync()).toMatchObject({ conflicts: [{ path: "p/a" }] });
    expect(filesIn(files.home)).toEqual({ "p/a": "1" });
  });

  test("is a conflict if the user deleted a file whose permissions the agent changed", async () => {
    const files = await mountFiles({ a: "1", b: "2" });
    chmodSync(join(files.root, "a"), 0o755);
    files.removeHost("a");
    const { conflicts, conflictsDir } = await files.sync();
    expect(conflicts).toMatchObject([{ path: "p/a" }]);
    expect(readMode(conflictsDir ?? "", "p/a")).toBe(0o755);
    expect(filesIn(files.home)).toEqual({ "p/b": "2" });
  });
});

describe("a sync of folders", () => {
  test("creates empty folders of the agent with their permissions", async () => {
    const files = await mountFiles({ a: "1" });
    mkdirSync(join(files.root, "empty/deep"), { recursive: true });
    mkdirSync(join(files.root, "private"), { mode: 0o700 });
    writeFileSync(join(files.root, "private/x"), "x");
    expect(await files.sync()).toMatchObject({ failed: [], conflicts: [], added: ["p/private/x"] });
    expect(readdirSync(join(files.home, "p/empty"))).toEqual(["deep"]);
    expect(readMode(files.home, "p/private")).toBe(0o700);
  });

  test("creates empty folders in a new destination and in an existing one", async () => {
    const files = await mountFiles({ a: "1", "was/empty": null });
    mkdirSync(join(files.root, "empty"));
    const [missing, filled] = [join(temporaryTree(), "to"), temporaryTree({ x: "x" })];
    for (const to of [missing, filled]) {
      await files.sync(to);
      expect(readdirSync(join(to, "p")).sort()).toEqual(["a", "empty", "was"]);
      expect(readdirSync(join(to, "p/was"))).toEqual(["empty"]);
    }
  });

  test("removes mounted folders that the agent removed, if they are empty on the host", async () => {
    const tree = { "d/a": "1", "d/e/f": "2", "mine/a": "3", "left/a": "4", "was/empty": null };
    const files = await mountFiles(tree);
    for (const path of ["d", "mine", "was", "left/a"]) files.remove(path);
    files.editHost({ "mine/b": "user" });
    expect(await files.sync()).toMatchObject({ failed: [], conflicts: [] });
    expect(readdirSync(join(files.home, "p")).sort()).toEqual(["left", "mine"]);
    expect(filesIn(files.home)).toEqual({ "p/mine/b": "user" });
  });

  test("does not remove folders that were not mounted from there", async () => {
    const files = await mountFiles({ "d/a": "1", "e/b": null });
    files.remove("d");
    files.remove("e");
    const to = temporaryTree({ "p/d/x": null, "p/e/b": null });
    expect(await files.sync(to)).toMatchObject({ failed: [] });
    expect(readdirSync(join(to, "p")).sort()).toEqual(["d", "e"]);
  });

  test("removes a folder again that an earlier sync created", async () => {
    const files = await mountFiles({ a: "1" });
    mkdirSync(join(files.root, "new"));
    await files.sync();
    expect(existsSync(join(files.home, "p/new"))).toBe(true);
    rmSync(join(files.root, "new"), { recursive: true });
    await files.sync();
    expect(existsSync(join(files.home, "p/new"))).toBe(false);
  });

  test("is a conflict if the user has a file where the agent created a folder", async () => {
    const files = await mountFiles({ a: "1" });
    mkdirSync(join(files.root, "new"));
    files.editHost({ new: "user" });
    const { conflicts, failed } = await files.sync();
    expect({ conflicts, failed }).toMatchObject({ conflicts: [{ path: "p/new" }], failed: [] });
    expect(filesIn(files.home)).toEqual({ "p/a": "1", "p/new": "user" });
  });
});
