import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { localStorage, temporaryDataDir } from "../../../tests/support/local-storage.ts";

const ALL = { limit: 100, order: "asc" } as const;

type Api = Awaited<ReturnType<typeof localStorage>>;

function add({ files }: Api, filename: string, expiresAfterSeconds?: number) {
  const path = files.incoming.place();
  writeFileSync(path, filename);
  const bytes = filename.length;
  return files.add({ path, bytes, filename, purpose: "user_data", expiresAfterSeconds });
}

describe("the file store", () => {
  it("says whether there was something to delete", async () => {
    await using api = await localStorage();
    const { id } = add(api, "a.txt");
    expect([api.files.delete(id), api.files.delete(id)]).toEqual([true, false]);
    expect(api.files.delete("../local.sqlite")).toBe(false);
    expect(readdirSync(api.dataDir)).toContain("local.sqlite");
  });

  it("knows a deleted file's place in the list for a day", async () => {
    using folder = temporaryDataDir();
    const dataDir = folder.path;
    let id = "";
    {
      await using api = await localStorage({ dataDir });
      ({ id } = add(api, "a.txt"));
      add(api, "b.txt");
      api.files.delete(id);
      expect(api.files.list({ ...ALL, after: id }).files).toMatchObject([{ filename: "b.txt" }]);
    }
    await using later = await localStorage({ dataDir, startsAfterMs: 25 * 60 * 60_000 });
    expect(() => later.files.list({ ...ALL, after: id })).toThrow("no item with id");
  });

  it("is rid of what expired while no server ran", async () => {
    using folder = temporaryDataDir();
    const dataDir = folder.path;
    {
      await using api = await localStorage({ dataDir });
      add(api, "short.txt", 3600);
      add(api, "long.txt", 7200);
    }
    await using later = await localStorage({ dataDir, startsAfterMs: 3600_000 });
    expect(readdirSync(join(dataDir, "files"))).toHaveLength(1);
    expect(later.files.list(ALL).files).toMatchObject([{ filename: "long.txt" }]);
  });
});
