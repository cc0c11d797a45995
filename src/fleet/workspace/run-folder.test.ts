import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { createRun, newFolder, sha256 } from "../../../tests/support/fleet/run-on-machines.ts";
import { workspaceSlice } from "../../prompt/sections/workspace-slice.ts";

describe("RunFolder", () => {
  test("restores the files on a machine that has neither the folder nor the mounts", async () => {
    const { blobs, mount, openOn } = createRun();
    const first = await openOn(newFolder());
    const one = first.createWorkspace();
    await one.ready();
    await first.keep(one);
    appendFileSync(join(one.tempDir, "a.txt"), "!");
    writeFileSync(join(one.tempDir, "new.txt"), "new");
    rmSync(join(one.tempDir, "b.txt"));
    await first.keep(one);
    expect([...blobs.contents.keys()].sort()).toEqual(
      ["one", "two", "one!", "new"].map(sha256).sort(),
    );
    writeFileSync(join(one.tempDir, "new.txt"), "not stored");
    await one.workspace.keep();
    await first.session.close();
    rmSync(mount, { recursive: true });

    const folder = newFolder();
    const second = await openOn(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const other = second.createWorkspace();
    await other.ready();
    expect(filesIn(other.tempDir)).toEqual({ "a.txt": "one!", "new.txt": "new" });
    expect((await other.diff()).files.map(({ path }) => path)).toEqual([
      "a.txt",
      "b.txt",
      "new.txt",
    ]);
    expect(other.workspace.takeLost()).toEqual([]);
    blobs.calls.splice(0);
    await second.keep(other);
    writeFileSync(join(other.tempDir, "new.txt"), "two");
    await second.keep(other);
    expect(blobs.calls).toEqual([]); // another machine has stored it
    await other.cleanup();
    await second.run.remove();
    expect(existsSync(folder)).toBe(false);
    await second.run.remove();
  });

  test("downloads only files that this disk lacks or has damaged", async () => {
    const { blobs, openOn } = createRun();
    const folder = newFolder();
    const first = await openOn(folder);
    const one = first.createWorkspace();
    await one.ready();
    await first.keep(one);
    await one.cleanup();
    await first.session.close();
    blobs.calls.splice(0);
    const second = await openOn(folder);
    await second.createWorkspace().ready();
    expect(blobs.calls).toEqual([]);
    await second.session.close();
    const disk = newFolder();
    const third = await openOn(disk);
    const other = third.createWorkspace();
    await other.ready();
    expect(blobs.calls).toEqual(["get", "get"]);
    await other.cleanup();
    await third.session.close();
    writeFileSync(join(disk, "blobs", sha256("one")), "eno");
    rmSync(join(disk, "mounted.json"));
    blobs.calls.splice(0);
    const fourth = await openOn(disk);
    const last = fourth.createWorkspace();
    await last.ready();
    expect(blobs.calls).toEqual(["get"]);
    expect(filesIn(last.tempDir)).toEqual({ "a.txt": "one", "b.txt": "two" });
  });

  test("restores several workspaces, each to the folder that it has now", async () => {
    const { openOn } = createRun();
    const folder = newFolder();
    const first = await openOn(folder);
    for (const key of ["x", "y"]) {
      const section = first.createWorkspace({ key, persistDir: join(folder, key) });
      await section.ready();
      writeFileSync(join(section.tempDir, "a.txt"), key);
      await first.keep(section);
    }
    await first.session.close();
    const other = newFolder();
    const second = await openOn(other);
    const x = second.createWorkspace({ key: "x", persistDir: other });
    const y = second.createWorkspace({ key: "y", persistDir: join(other, "renamed", "y") });
    await Promise.all([x.ready(), y.ready()]);
    expect(filesIn(x.tempDir)).toEqual({ "a.txt": "x", "b.txt": "two" });
    expect(filesIn(y.tempDir)).toEqual({ "a.txt": "y", "b.txt": "two" });
  });

  test("reports files as lost whose contents are missing or wrong, and stores them again", async () => {
    const { blobs, openOn } = createRun();
    const first = await openOn(newFolder());
    const one = first.createWorkspace();
    await one.ready();
    await first.keep(one);
    await first.session.close();
    blobs.contents.delete(sha256("one"));
    blobs.contents.set(sha256("two"), new Uint8Array(3));
    const second = await openOn(newFolder());
    const other = second.createWorkspace();
    await other.ready();
    expect(other.workspace.takeLost().map(({ path }) => path)).toEqual(["a.txt", "b.txt"]);
    writeFileSync(join(other.tempDir, "a.txt"), "one");
    await second.keep(other);
    expect(blobs.contents.has(sha256("one"))).toBe(true);
  });

  test("restores nothing from a session with a path outside of the workspace", async () => {
    const { records, blobs, mount, openOn } = createRun();
    const first = await openOn(newFolder());
    const one = first.createWorkspace();
    await one.ready();
    await first.keep(one);
    await first.session.close();
    const lines = records.lines.get("s") ?? [];
    records.lines.set(
      "s",
      lines.map((line) => line.replaceAll('"a.txt"', '"../a.txt"')),
    );
    records.checkpoints.clear();
    blobs.calls.splice(0);
    const second = await openOn(newFolder());
    const other = second.createWorkspace();
    await other.ready();
    expect(blobs.calls).toEqual([]);
    expect(filesIn(other.tempDir)).toEqual(filesIn(mount));
  });

  test("keeps the bytes of a file on the disk until they are stored", async () => {
    const { records, blobs, openOn } = createRun({ "a.txt": "0" });
    const folder = newFolder();
    const first = await openOn(folder);
    const section = first.createWorkspace();
    await section.ready();
    await first.keep(section);
    const { promise, resolve } = Promise.withResolvers<void>();
    records.gate = promise;
    for (let text = 1; text < 8; text += 1) {
      writeFileSync(join(section.tempDir, "a.txt"), `${text}`);
      await first.keep(section, false);
    }
    expect(readdirSync(join(folder, "blobs"))).toContain(sha256("3"));
    resolve();
    await first.session.flush();
    expect(blobs.contents.size).toBe(8);
    writeFileSync(join(section.tempDir, "a.txt"), "8");
    await first.keep(section);
    expect(readdirSync(join(folder, "blobs"))).not.toContain(sha256("3"));
  });

  test("stores no files of a workspace without a persistDir", async () => {
    const { blobs, openOn } = createRun();
    const first = await openOn(newFolder());
    const section = first.createWorkspace({ persistDir: undefined });
    await section.ready();
    await first.keep(section);
    expect(Object.keys(first.session.get(workspaceSlice).sections)).toEqual(["workspace"]);
    expect(blobs.calls).toEqual([]);
  });

  test("stores the rest of mounted files that were changed before they were kept", async () => {
    const { blobs, openOn } = createRun();
    const first = await openOn(newFolder());
    const section = first.createWorkspace();
    await section.ready();
    writeFileSync(join(section.tempDir, "a.txt"), "changed");
    await first.keep(section);
    expect([...blobs.contents.keys()].sort()).toEqual(["changed", "two"].map(sha256).sort());
  });

  test("does nothing for other records", async () => {
    const { blobs, openOn } = createRun();
    const { run } = await openOn(newFolder());
    await run.storeFiles({ n: 0, kind: "slice", id: "x", policy: "log" });
    await run.storeFiles({ n: 1, kind: "event", event: { type: "Other" } });
    await run.storeFiles({ n: 2, kind: "events", events: [{ event: { type: "Other" } }] });
    expect(blobs.calls).toEqual([]);
  });

  test("stores the files of every event of a record", async () => {
    const { blobs, openOn } = createRun();
    const first = await openOn(newFolder());
    const section = first.createWorkspace();
    await section.ready();
    const manifest = await section.workspace.keep();
    const events = [{ event: { type: "Other" } }, { event: { type: "WorkspaceKept", manifest } }];
    await first.run.storeFiles({ n: 5, kind: "events", events });
    expect(blobs.contents.size).toBe(2);
  });

  test("stores and restores a file of more than 4 MiB", async () => {
    const bytes = randomBytes(5 * 1024 ** 2);
    const { openOn, mount } = createRun({ large: bytes });
    const first = await openOn(newFolder());
    const one = first.createWorkspace();
    await one.ready();
    await first.keep(one);
    await first.session.close();
    rmSync(mount, { recursive: true });
    const second = await openOn(newFolder());
    const other = second.createWorkspace();
    await other.ready();
    expect(sha256(await other.filesystem.readBytes("large"))).toBe(sha256(bytes));
  });
});
