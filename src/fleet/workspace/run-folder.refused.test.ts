import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRun, newFolder, sha256 } from "../../../tests/support/fleet/run-on-machines.ts";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { WorkspaceBudgetExceededError } from "../../base/filesystem-error.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { PostgresBlobStore } from "./postgres-blob-store.ts";

describe("RunFolder", () => {
  test("refuses a persistDir elsewhere before anything is created", async () => {
    const { openOn } = createRun();
    const folder = newFolder();
    const { createWorkspace } = await openOn(folder);
    const elsewhere = `${folder}-2`;
    const error = await createWorkspace({ persistDir: elsewhere }).ready().catch(String);
    expect(error).toContain(
      `persistDir of the workspace "workspace" must be the folder of the run, ${folder}`,
    );
    expect(error).toContain("Pass the folder that prepare receives, or join(folder, name)");
    await expect(createWorkspace({ persistDir: elsewhere }).ready()).rejects.toThrow(
      InvalidOptionError,
    );
    expect(existsSync(elsewhere)).toBe(false);
  });

  test("refuses files of a workspace that was created with another session", async () => {
    const { openOn } = createRun();
    const [first, other] = [await openOn(newFolder()), await createRun().openOn(newFolder())];
    const section = first.createWorkspace();
    await section.ready();
    const manifest = await section.workspace.keep();
    const stored = other.run.storeFiles({
      kind: "event",
      event: { type: "WorkspaceKept", manifest },
    });
    await expect(stored).rejects.toThrow(WinkError);
    await expect(stored).rejects.toThrow(/Create it with the session that prepare receives/);
  });

  test("refuses to store a record whose files are gone from the disk", async () => {
    const { openOn } = createRun();
    const folder = newFolder();
    const first = await openOn(folder);
    const section = first.createWorkspace();
    await section.ready();
    const manifest = await section.workspace.keep();
    rmSync(join(folder, "blobs", sha256("one")));
    const stored = first.run.storeFiles({
      kind: "event",
      event: { type: "WorkspaceKept", manifest },
    });
    await expect(stored).rejects.toThrow(/is missing or damaged, so that other machines could not/);
  });

  test("refuses workspaces that have become too large together, and accepts smaller ones", async () => {
    const { openOn } = createRun({ a: "1234" });
    const folder = newFolder();
    const first = await openOn(folder, { maxBytes: 10 });
    const [one, other] = ["one", "other"].map((key) =>
      first.createWorkspace({ key, persistDir: join(folder, key) }),
    );
    if (!one || !other) throw new Error("there are two");
    await Promise.all([one.ready(), other.ready()]);
    await first.keep(one);
    await first.keep(other);
    rmSync(join(one.tempDir, "a"));
    writeFileSync(join(one.tempDir, "b"), "123456");
    await first.keep(one);
    writeFileSync(join(one.tempDir, "b"), "1234567");
    const failed = await first.keep(one).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SessionStoreError);
    const { cause } = Object(failed);
    expect(cause).toBeInstanceOf(WorkspaceBudgetExceededError);
    expect(String(cause)).toContain("have 11 bytes, and the blob store takes at most 10 of a run");
  });

  test("counts the files of earlier attempts, and replaces them if the workspace starts again", async () => {
    const { openOn } = createRun({ a: "1234" });
    const first = await openOn(newFolder(), { maxBytes: 10 });
    const one = first.createWorkspace();
    await one.ready();
    await first.keep(one);
    await first.session.close();
    const second = await openOn(newFolder(), { maxBytes: 10 });
    const other = second.createWorkspace();
    await other.ready();
    writeFileSync(join(other.tempDir, "b"), "1234567");
    await expect(second.keep(other)).rejects.toThrow(/have 11 bytes/);
    const third = await openOn(newFolder(), { maxBytes: 10 });
    const anew = third.createWorkspace();
    await anew.ready();
    const manifest = { ...(await anew.workspace.keep()), section: "workspace", isComplete: true };
    const files = { a: { sha256: sha256("1234"), bytes: 4, mode: 0o644 } };
    const event = { type: "WorkspaceKept", manifest: { ...manifest, files, deleted: [] } };
    await third.run.storeFiles({ kind: "event", event });
  });

  test("takes at most 256 MiB of a run with PostgreSQL, unless maxBytes is set", async () => {
    const { openOn } = createRun();
    const sql = { query: async () => ({ rows: [{}] }) };
    const blobs = new PostgresBlobStore({ sql, schema: "wink", sessionId: "s" });
    const [limited, other] = [await openOn(newFolder(), { blobs }), await openOn(newFolder())];
    const files = { a: { sha256: sha256("one"), bytes: 2 ** 28 + 1, mode: 0o644 } };
    const manifest = { section: "workspace", isComplete: true, files, deleted: [] };
    const record = { kind: "event", event: { type: "WorkspaceKept", manifest } };
    for (const { createWorkspace } of [limited, other]) await createWorkspace().ready();
    await expect(limited.run.storeFiles(record)).rejects.toThrow(/at most 268435456 of a run/);
    await expect(other.run.storeFiles(record)).rejects.toThrow(/is missing or damaged/);
  });

  test("says that the blob store has failed", async () => {
    const { blobs, openOn } = createRun();
    const first = await openOn(newFolder());
    const section = first.createWorkspace();
    await section.ready();
    blobs.failure = new Error("no route");
    await expect(first.keep(section)).rejects.toThrow(
      /Could not store a file of session "s": no route/,
    );
    blobs.failure = null;
    const second = await openOn(newFolder());
    const other = second.createWorkspace();
    await other.ready();
    await second.keep(other);
    await second.session.close();
    blobs.failure = new Error("no route");
    const third = await openOn(newFolder());
    const ready = third.createWorkspace().ready();
    await expect(ready).rejects.toThrow(SessionStoreError);
    await expect(ready).rejects.toThrow(/Could not download a file of session "s": no route/);
  });
});
