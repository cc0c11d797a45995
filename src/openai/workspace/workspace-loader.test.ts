import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { systemClock } from "../../base/clock.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import { resolveContainerSettings } from "./container-config.ts";
import { WorkspaceLoader } from "./workspace-loader.ts";

function createLoader(): WorkspaceLoader {
  return new WorkspaceLoader({
    plan: planMounts([], { allowedHostRoots: [] }),
    settings: resolveContainerSettings(),
    ...{ name: "test", archive: "test.tar", unpack: "files", syncPolicy: "never" },
    ...{ syncDestination: null, deleteOnCleanup: false, client: null },
  });
}

/** Imports the entry point in a process. Returns which of the workspace's files it has read, before and after `ready()`. */
async function readImports(): Promise<Record<"before" | "after", readonly string[]>> {
  const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    import { registerHooks } from "node:module";
    const read = [];
    registerHooks({ load: (url, context, next) => (read.push(url), next(url, context)) });
    const { OpenAIContainerWorkspaceSection } = await import(${at("../index.ts")});
    const { Session } = await import(${at("../../index.ts")});
    const mounts = [{ hostPath: ${JSON.stringify(temporaryTree({ "a.txt": "one" }))} }];
    const section = new OpenAIContainerWorkspaceSection({ session: new Session(), mounts, allowedHostRoots: "any" });
    const list = () => read.map((url) => url.split("/src/")[1] ?? url);
    const before = list();
    await section.ready();
    const after = list().slice(before.length);
    await section.cleanup();
    console.log(JSON.stringify({ before, after }));`;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  return JSON.parse((await run).stdout);
}

describe("WorkspaceLoader", () => {
  test("imports what only the use of a workspace needs on its first use, and all of it", async () => {
    const { before, after } = await readImports();
    const late = /^(?:files\/(?:changes|sync|checkpoint|digests|filesystem\/host)|host\/threads)\//;
    expect(before.filter((path) => late.test(path) && !path.endsWith("/sync-report.ts"))).toEqual([
      "files/sync/sync-policy.ts",
    ]);
    expect(before).toContain("openai/workspace/workspace-loader.ts");
    expect(before).not.toContain("node:crypto");
    expect(after).toEqual(
      expect.arrayContaining([
        "openai/workspace/container-workspace.ts",
        "files/sync/sync-folder.ts",
        "files/changes/workspace-changes.ts",
        "files/digests/capture-baseline.ts",
      ]),
    );
  });

  test("creates one workspace for concurrent callers", async () => {
    const loader = createLoader();
    const [one, other] = await Promise.all([loader.load(), loader.load()]);
    expect(one).toBe(other);
    expect(one.tempDir).toBe(loader.tempDir);
    await loader.cleanup();
  });

  test("that was never used is cleaned up without creating a workspace, and cannot be used any more", async () => {
    const loader = createLoader();
    expect(await loader.cleanup()).toMatchObject({ directory: null });
    await loader.cleanup(); // as a file system without a prompt can be, twice
    await expect(loader.ready()).rejects.toThrow("The workspace was cleaned up.");
    await expect(loader.diff()).rejects.toThrow("The workspace was cleaned up.");
    expect(() => loader.share()).toThrow("The workspace was cleaned up. Create a new one.");
  });

  test("refuses a cleanup from the first moment of an evaluation", async () => {
    const loader = createLoader();
    const holds = [loader.hold(systemClock), loader.hold(systemClock)];
    expect(() => loader.checkIdle()).toThrow("An evaluation is using the workspace.");
    loader.share();
    loader.checkIdle(); // another section would still use it
    await loader.cleanup();
    holds[0]?.[Symbol.dispose]();
    holds[0]?.[Symbol.dispose]();
    expect(() => loader.checkIdle()).toThrow("An evaluation is using the workspace.");
    holds[1]?.[Symbol.dispose]();
    loader.checkIdle();
    await loader.cleanup();
  });

  test("watches the container only while an evaluation holds it", async () => {
    const loader = createLoader();
    const clock = { ...systemClock, sleep: vi.fn(() => new Promise<void>(() => {})) };
    loader.hold(clock)[Symbol.dispose](); // before the workspace is created
    await loader.load();
    expect(clock.sleep).not.toHaveBeenCalled();
    const hold = loader.hold(clock);
    await vi.waitFor(() => expect(clock.sleep).toHaveBeenCalledOnce());
    hold[Symbol.dispose]();
    await loader.cleanup();
  });
});
