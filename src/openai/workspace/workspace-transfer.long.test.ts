import { describe, expect, test } from "vitest";
import {
  createInterceptionFixture,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository, readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import type { Logger } from "../../base/logger.ts";
import type { OpenAIContainerWorkspaceSection } from "./container-workspace-section.ts";

const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];
const writeScript = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

/** Evaluates while the provider lists no files, so that the download before the answer fails. */
async function evaluateWithoutDownload(
  stage: InterceptionFixture,
  section: OpenAIContainerWorkspaceSection,
): Promise<void> {
  let isDown = true;
  stage.intercept(({ method, path }) =>
    isDown && method === "GET" && path.endsWith("/files")
      ? { status: 400, body: '{"error":{"message":"Not now."}}' }
      : null,
  );
  await stage.evaluate(section);
  isDown = false;
}

describe("the last changes that code made", () => {
  test("are reported as lost if the container is known to be lost", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await evaluateWithoutDownload(stage, section);
    const { container } = await section.workspace.load();
    container.lose(section.containerId ?? "", new Error("It died."));
    const { failed } = await section.cleanup();
    expect(failed).toEqual([
      {
        path: ".",
        reason:
          "the last changes that code made could not be downloaded: the container no longer exists",
      },
    ]);
    expect(readFiles(section.syncedDir ?? "")).toEqual({ "p/a.txt": "one" });
  });

  test("are reported as lost if the container no longer exists, without creating another", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await evaluateWithoutDownload(stage, section);
    await stage.calls.remove(section.containerId ?? "");
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([
      {
        path: ".",
        reason: expect.stringMatching(
          /^the last changes that code made could not be downloaded: .* not found/,
        ),
      },
    ]);
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
  });

  test("are downloaded even if temporary uploads cannot be deleted", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    stage.intercept(({ method }) =>
      method === "DELETE" ? { status: 403, body: '{"error":{"message":"Not you."}}' } : null,
    );
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], failed: [] });
  });

  test("do not fail a completed turn if the container is lost right after", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const logged: string[] = [];
    const note = (message: string) => void logged.push(message);
    const logger: Logger = { debug: note, info: note, warn: note, error: note };
    const stage = await createInterceptionFixture(writeScript, { adapter: { logger } });
    const section = stage.createSection({ mounts: createMounts(folder), syncPolicy: "eachTurn" });
    stage.intercept(async (request) => {
      if (request.path !== "/responses" || isWorkspaceRequest(request)) return null;
      const answer = await request.forward();
      await stage.calls.remove(section.containerId ?? "");
      return answer;
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(logged).toContain("could not download the changes that code made");
    expect(section.containerId).toBeNull();
  });

  test("are not requested if the container was lost in the meantime", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({ mounts: createMounts(folder), syncPolicy: "eachTurn" });
    stage.intercept(async (request) => {
      if (request.path !== "/responses" || isWorkspaceRequest(request)) return null;
      const answer = await request.forward();
      const { container } = await section.workspace.load();
      container.lose(section.containerId ?? "", new Error("It died."));
      return answer;
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(stage.seenRequests.filter(isWorkspaceRequest)).toHaveLength(1);
  });

  test("are empty if the mounts could not be copied", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    const { rmSync } = await import("node:fs");
    rmSync(folder, { recursive: true });
    await expect(section.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(await section.cleanup()).toMatchObject({ directory: null, failed: [] });
  });
});

describe("the provider's file list", () => {
  const createScript = [
    [
      {
        code: `for name in ["a", "b"]:
    open(f"/mnt/data/{name}.txt", "w").write(name)`,
      },
    ],
    [{ say: "Done." }],
  ];

  test("is used if the archive of changes is not listed", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    stage.intercept(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.forward();
      const page = JSON.parse(String(body));
      const data = page.data.filter(({ path }: { path: string }) => !path.endsWith(".tar"));
      return { status, body: JSON.stringify({ ...page, data }) };
    });
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], deleted: [] });
  });

  test("may contain a file that cannot be downloaded, which is reported without losing the others", async () => {
    const stage = await createInterceptionFixture(createScript);
    stage.intercept(async ({ path }) => {
      const [, container = "", id] = /containers\/(\w+)\/files\/(\w+)\/content/.exec(path) ?? [];
      for await (const file of id ? stage.calls.list(container) : []) {
        if (file.id === id && file.path.endsWith("/a.txt")) {
          return { status: 400, body: '{"error":{"message":"Not that one."}}' };
        }
      }
      return null;
    });
    const section = stage.createSection({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed, added } = await section.cleanup();
    expect(failed).toMatchObject([
      { path: "a.txt", reason: expect.stringContaining("Not that one") },
    ]);
    expect(added).toEqual(["b.txt"]);
  });

  test("may contain a file that is too large, which is reported and skipped", async () => {
    const stage = await createInterceptionFixture(createScript);
    stage.intercept(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.forward();
      const page = JSON.parse(String(body));
      const data = page.data.map((file: { path: string }) =>
        file.path.endsWith("/a.txt") ? { ...file, bytes: 2 ** 40 } : file,
      );
      return { status, body: JSON.stringify({ ...page, data }) };
    });
    const section = stage.createSection({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed, added } = await section.cleanup();
    expect(failed).toEqual([{ path: "a.txt", reason: "is larger than 536870912 bytes" }]);
    expect(added).toEqual(["b.txt"]);
  });

  test("may list files of a lost container, which are reported as failed", async () => {
    const stage = await createInterceptionFixture(createScript);
    stage.intercept(async ({ path }) => {
      const id = /^\/containers\/(\w+)\/files\/\w+\/content$/.exec(path)?.[1];
      if (id) await stage.calls.remove(id);
      return null;
    });
    const section = stage.createSection({ unpack: "files", syncOnCleanup: true });
    await evaluateWithoutDownload(stage, section);
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([{ path: ".", reason: expect.stringContaining("not found") }]);
  });
});

describe('a model that unpacks files with unpack "prompt"', () => {
  const SHOW = "import glob\nprint([open(at).read() for at in sorted(glob.glob('/mnt/data/p/*'))])";
  const findPythonBlocks = (items: readonly object[]) =>
    items.flatMap((item) => {
      const { role, content } = item as { readonly role?: string; readonly content?: string };
      if (role !== "system" && role !== "developer") return [];
      return [...(content ?? "").matchAll(/```python\n([\s\S]*?)\n```/g)].map((block) => block[1]);
    });

  /** Creates a model that runs every Python block in its instructions, then prints the files. */
  const createObedientModel = (run = new Set<string>()) => {
    return ({ items }: { readonly items: readonly object[] }) => {
      const next = findPythonBlocks(items).find((block) => block !== undefined && !run.has(block));
      if (next !== undefined) {
        run.add(next);
        return [{ code: next }];
      }
      const last = items.at(-1) as { readonly type?: string; readonly code?: string } | undefined;
      const hasPrinted = last?.type === "code_interpreter_call" && last.code === SHOW;
      return hasPrinted ? [{ say: "Done." }] : [{ code: SHOW }];
    };
  };

  test("is instructed again for later writes", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(createObedientModel());
    const section = stage.createSection({ mounts: createMounts(folder), unpack: "prompt" });
    await stage.evaluate(section);
    await section.filesystem.writeText("p/b.txt", "two");
    await stage.evaluate(section);
    expect(stage.readOutputs().filter((text) => !text.includes("wink:"))).toEqual([
      "['one']\n",
      "['one', 'two']\n",
    ]);
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
    expect(stage.seenRequests.filter(isWorkspaceRequest)).toEqual([]);
  });

  test("is instructed again after its container was replaced", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const run = new Set<string>();
    const stage = await createInterceptionFixture(createObedientModel(run));
    const section = stage.createSection({ mounts: createMounts(folder), unpack: "prompt" });
    await stage.evaluate(section);
    await section.filesystem.writeText("p/b.txt", "two");
    await stage.calls.remove(section.containerId ?? "");
    run.clear();
    await stage.evaluate(section);
    expect(stage.bus.of("ContainerReplaced")).toHaveLength(1);
    expect(stage.readOutputs().at(-1)).toBe("['one', 'two']\n");
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
  });
});
