import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryDataDir, startLocalStorage } from "../../../tests/support/local-storage.ts";

const ALL = { limit: 100, order: "asc" } as const;

type Api = Awaited<ReturnType<typeof startLocalStorage>>;

function addFile({ files }: Api, filename: string, expiresAfterSeconds?: number) {
  const path = files.incoming.createPath();
  writeFileSync(path, filename);
  const bytes = filename.length;
  return files.add({ path, bytes, filename, purpose: "user_data", expiresAfterSeconds });
}

describe("FileStore", () => {
  it("returns whether a file was deleted", async () => {
    await using api = await startLocalStorage();
    const { id } = addFile(api, "a.txt");
    expect([api.files.delete(id), api.files.delete(id)]).toEqual([true, false]);
    expect(api.files.delete("../local.sqlite")).toBe(false);
    expect(readdirSync(api.dataDir)).toContain("local.sqlite");
  });

  it("accepts a deleted file's id as a cursor for a day", async () => {
    using folder = createTemporaryDataDir();
    const dataDir = folder.path;
    let id = "";
    {
      await using api = await startLocalStorage({ dataDir });
      ({ id } = addFile(api, "a.txt"));
      addFile(api, "b.txt");
      api.files.delete(id);
      expect(api.files.list({ ...ALL, after: id }).files).toMatchObject([{ filename: "b.txt" }]);
    }
    await using later = await startLocalStorage({ dataDir, startsAfterMs: 25 * 60 * 60_000 });
    expect(() => later.files.list({ ...ALL, after: id })).toThrow("no item with id");
  });

  it("deletes files that expired while no server ran", async () => {
    using folder = createTemporaryDataDir();
    const dataDir = folder.path;
    {
      await using api = await startLocalStorage({ dataDir });
      addFile(api, "short.txt", 3600);
      addFile(api, "long.txt", 7200);
    }
    await using later = await startLocalStorage({ dataDir, startsAfterMs: 3600_000 });
    expect(readdirSync(join(dataDir, "files"))).toHaveLength(1);
    expect(later.files.list(ALL).files).toMatchObject([{ filename: "long.txt" }]);
  });
});
