import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { sweepTemporaryDataDirs, TemporaryDataDir } from "./temporary-data-dir.ts";

function useTemporaryFolder(): string {
  const folder = temporaryTree();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

describe("TemporaryDataDir", () => {
  test("is a folder of this user alone, and is removed with its contents", () => {
    const parent = useTemporaryFolder();
    const folder = new TemporaryDataDir();
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder.path, "owner.json")).mode & 0o777).toBe(0o600);
    mkdirSync(join(folder.path, "containers"));
    writeFileSync(join(folder.path, "containers", "a"), "");
    folder[Symbol.dispose]();
    expect(readdirSync(parent)).toEqual([]);
  });

  test("names the place and the remedy if it cannot be created", () => {
    vi.stubEnv("TMPDIR", join(useTemporaryFolder(), "gone"));
    expect(() => new TemporaryDataDir()).toThrow(/gone.*set TMPDIR to a writable folder/is);
  });
});

describe("sweepTemporaryDataDirs()", () => {
  test("releases and removes folders of ended processes, and keeps all others", async () => {
    const parent = useTemporaryFolder();
    const [dead, alive] = [new TemporaryDataDir(), new TemporaryDataDir()];
    const owner = join(dead.path, "owner.json");
    writeFileSync(owner, JSON.stringify({ pid: 2 ** 22 + 1, startedAt: 1, host: readHost(alive) }));
    mkdirSync(join(parent, "wink-local-other"));
    const released: string[] = [];
    const swept = await sweepTemporaryDataDirs(async (folder) => {
      released.push(folder);
      throw new Error("Not mounted.");
    });
    expect([swept, released]).toEqual([[dead.path], [dead.path]]);
    expect(existsSync(alive.path)).toBe(true);
    expect(existsSync(join(parent, "wink-local-other"))).toBe(true);
  });
});

function readHost(folder: TemporaryDataDir): unknown {
  return JSON.parse(readFileSync(join(folder.path, "owner.json"), "utf8")).host;
}
