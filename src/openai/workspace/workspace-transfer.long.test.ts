import { describe, expect, test } from "vitest";
import { bentStage, ownRequest } from "../../../tests/support/workspace/bent-stage.ts";
import { filesIn, repository } from "../../../tests/support/workspace/stage.ts";
import type { Logger } from "../../base/logger.ts";

const mountsOf = (folder: string) => [{ hostPath: folder, mountPath: "p" }];
const writing = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

describe("what code changed last", () => {
  test("is told as lost when its container is known to be gone", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    section.workspace.container.lose(section.containerId ?? "", new Error("It died."));
    const { failed } = await section.cleanup();
    expect(failed).toEqual([
      { path: ".", reason: "what code changed last could not be fetched: the container is gone" },
    ]);
    expect(filesIn(section.syncedDir ?? "")).toEqual({ "p/a.txt": "one" });
  });

  test("is told as lost when its container turns out to be gone, and none is made for it", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    await stage.calls.remove(section.containerId ?? "");
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([
      {
        path: ".",
        reason: expect.stringMatching(/^what code changed last could not be fetched: .* not found/),
      },
    ]);
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
  });

  test("is had although what was sent to find it cannot be removed", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    stage.bend(({ method }) =>
      method === "DELETE" ? { status: 403, body: '{"error":{"message":"Not you."}}' } : null,
    );
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], failed: [] });
  });

  test("does not fail an answer that was had, where its container died right after", async () => {
    const folder = repository({ "a.txt": "one" });
    const logged: string[] = [];
    const note = (message: string) => void logged.push(message);
    const logger: Logger = { debug: note, info: note, warn: note, error: note };
    const stage = await bentStage(writing, { adapter: { logger } });
    const section = stage.section({ mounts: mountsOf(folder), syncPolicy: "eachTurn" });
    stage.bend(async (request) => {
      if (request.path !== "/responses" || ownRequest(request)) return null;
      const answer = await request.answer();
      await stage.calls.remove(section.containerId ?? "");
      return answer;
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(logged).toContain("what code changed could not be fetched");
    expect(section.containerId).toBeNull();
  });

  test("is not asked for where the container was found to be gone meanwhile", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const section = stage.section({ mounts: mountsOf(folder), syncPolicy: "eachTurn" });
    stage.bend(async (request) => {
      if (request.path !== "/responses" || ownRequest(request)) return null;
      const answer = await request.answer();
      section.workspace.container.lose(section.containerId ?? "", new Error("It died."));
      return answer;
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(stage.seen.filter(ownRequest)).toHaveLength(1);
  });

  test("is nothing where the mounts could not be copied", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([]);
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    const { rmSync } = await import("node:fs");
    rmSync(folder, { recursive: true });
    await expect(section.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(await section.cleanup()).toMatchObject({ directory: null, failed: [] });
  });
});

describe("the provider's list", () => {
  const making = [
    [
      {
        code: `for name in ["a", "b"]:
    open(f"/mnt/data/{name}.txt", "w").write(name)`,
      },
    ],
    [{ say: "Done." }],
  ];

  test("is gone by where the survey's archive is not in it", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    stage.bend(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.answer();
      const page = JSON.parse(String(body));
      const data = page.data.filter(({ path }: { path: string }) => !path.endsWith(".tar"));
      return { status, body: JSON.stringify({ ...page, data }) };
    });
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], deleted: [] });
  });

  test("may have a file that cannot be fetched: it is told of, and the others come", async () => {
    const stage = await bentStage(making);
    stage.bend(async ({ path }) => {
      const [, container = "", id] = /containers\/(\w+)\/files\/(\w+)\/content/.exec(path) ?? [];
      for await (const file of id ? stage.calls.list(container) : []) {
        if (file.id === id && file.path.endsWith("/a.txt")) {
          return { status: 400, body: '{"error":{"message":"Not that one."}}' };
        }
      }
      return null;
    });
    const section = stage.section({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed, added } = await section.cleanup();
    expect(failed).toMatchObject([
      { path: "a.txt", reason: expect.stringContaining("Not that one") },
    ]);
    expect(added).toEqual(["b.txt"]);
  });

  test("may have a file that is too large: it is told of, and not fetched", async () => {
    const stage = await bentStage(making);
    stage.bend(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.answer();
      const page = JSON.parse(String(body));
      const data = page.data.map((file: { path: string }) =>
        file.path.endsWith("/a.txt") ? { ...file, bytes: 2 ** 40 } : file,
      );
      return { status, body: JSON.stringify({ ...page, data }) };
    });
    const section = stage.section({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed, added } = await section.cleanup();
    expect(failed).toEqual([{ path: "a.txt", reason: "is larger than 536870912 bytes" }]);
    expect(added).toEqual(["b.txt"]);
  });

  test("may outlive its container: what was not fetched by then is told of", async () => {
    const stage = await bentStage(making);
    stage.bend(async ({ path }) => {
      const id = /^\/containers\/(\w+)\/files\/\w+\/content$/.exec(path)?.[1];
      if (id) await stage.calls.remove(id);
      return null;
    });
    const section = stage.section({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([{ path: ".", reason: expect.stringContaining("not found") }]);
  });
});

describe("the model, asked to unpack by itself,", () => {
  const SHOW = "import glob\nprint([open(at).read() for at in sorted(glob.glob('/mnt/data/p/*'))])";
  const blocksIn = (items: readonly object[]) =>
    items.flatMap((item) => {
      const { role, content } = item as { readonly role?: string; readonly content?: string };
      if (role !== "system" && role !== "developer") return [];
      return [...(content ?? "").matchAll(/```python\n([\s\S]*?)\n```/g)].map((block) => block[1]);
    });

  /** Runs every block that it is asked to run, then looks at the files. */
  const obedient = (run = new Set<string>()) => {
    return ({ items }: { readonly items: readonly object[] }) => {
      const next = blocksIn(items).find((block) => block !== undefined && !run.has(block));
      if (next !== undefined) {
        run.add(next);
        return [{ code: next }];
      }
      const last = items.at(-1) as { readonly type?: string; readonly code?: string } | undefined;
      const hasLooked = last?.type === "code_interpreter_call" && last.code === SHOW;
      return hasLooked ? [{ say: "Done." }] : [{ code: SHOW }];
    };
  };

  test("is asked again for what is written later", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(obedient());
    const section = stage.section({ mounts: mountsOf(folder), unpack: "prompt" });
    await stage.evaluate(section);
    await section.filesystem.writeText("p/b.txt", "two");
    await stage.evaluate(section);
    expect(stage.printed().filter((text) => !text.includes("wink:"))).toEqual([
      "['one']\n",
      "['one', 'two']\n",
    ]);
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
    expect(stage.seen.filter(ownRequest)).toEqual([]);
  });

  test("is asked again when its container was replaced", async () => {
    const folder = repository({ "a.txt": "one" });
    const run = new Set<string>();
    const stage = await bentStage(obedient(run));
    const section = stage.section({ mounts: mountsOf(folder), unpack: "prompt" });
    await stage.evaluate(section);
    await section.filesystem.writeText("p/b.txt", "two");
    await stage.calls.remove(section.containerId ?? "");
    run.clear();
    await stage.evaluate(section);
    expect(stage.bus.of("ContainerReplaced")).toHaveLength(1);
    expect(stage.printed().at(-1)).toBe("['one', 'two']\n");
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
  });
});
