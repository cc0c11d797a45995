import { mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CraftedEntry, craftedTar, paxRecords } from "../support/crafted-tar.ts";
import { temporaryTree } from "../support/temporary-tree.ts";
import { type BentRequest, type BentStage, bentStage } from "../support/workspace/bent-stage.ts";
import { filesIn, repository } from "../support/workspace/stage.ts";

const REPORT = ".wink-report.json";

/** What a survey says of the files, whatever is in the archive beside it. */
function report(said: object | string): CraftedEntry {
  return { name: REPORT, content: typeof said === "string" ? said : JSON.stringify(said) };
}

const fine = report({ deleted: [], skipped: [], folders: ["p"] });
const evil = (name: string, more: CraftedEntry = {}): CraftedEntry => ({
  name,
  content: "evil",
  ...more,
});

const hostile: readonly (readonly [string, Buffer])[] = [
  ["an absolute name", craftedTar(fine, evil("/tmp/wink-evil"))],
  ["a name that leads out", craftedTar(fine, evil("p/../../../wink-evil"))],
  ["a long name that leads out", craftedTar(fine, ...longName(`${"../".repeat(60)}wink-evil`))],
  [
    "a symlink to write through",
    craftedTar(fine, { name: "p/out", type: "2" }, evil("p/out/wink-evil")),
  ],
  ["a hard link in a file's place", craftedTar(fine, { name: "p/a.txt", type: "1" })],
  ["devices and pipes", craftedTar(fine, { name: "p/d", type: "3" }, { name: "p/f", type: "6" })],
  ["one name twice", craftedTar(fine, evil("p/a.txt"), evil("p/a.txt"))],
  ["a file that is a folder as well", craftedTar(fine, evil("p/a.txt"), evil("p/a.txt/b"))],
  ["a file that nobody counted", craftedTar(fine, evil("p/wink-evil"))],
  ["other bytes than were counted", craftedTar(fine, evil("p/a.txt"))],
  ["a name with a control character", craftedTar(fine, evil("p/wink\u0007evil"))],
  ["no end", craftedTar(fine, evil("p/a.txt")).subarray(0, 1_600)],
  ["less than it says", craftedTar(fine, evil("p/a.txt", { size: 5_000_000_000 }))],
  ["more than may be", craftedTar(fine, evil("p/a.txt", { size: "77777777777\0" }))],
  ["nothing", Buffer.alloc(0)],
  ["noise", Buffer.alloc(4_096, "wink")],
  ["no report", craftedTar(evil("p/a.txt"))],
  ["a report that is no JSON", craftedTar(report("{"))],
  [
    "a report of paths that lead out",
    craftedTar(
      report({
        deleted: ["../../../wink-evil", "/etc/passwd", "p/a.txt"],
        folders: ["../../wink-evil", "/wink-evil", "p"],
        skipped: [null, 7, ["x"]],
      }),
    ),
  ],
];

function longName(name: string): readonly CraftedEntry[] {
  const content = paxRecords({ path: name });
  return [{ name: "pax", type: "x", content }, evil("short")];
}

/** Serves these bytes in place of every archive that is fetched. */
function serve(stage: BentStage, bytes: Uint8Array): void {
  stage.bend(async ({ path }) => {
    const [, containerId = "", id = ""] =
      /^\/containers\/([^/]+)\/files\/([^/]+)\/content$/.exec(path) ?? [];
    if (id === "") return null;
    for await (const file of stage.calls.list(containerId)) {
      const isArchive = /wink-\w+-\w+\.tar$/.test(file.path);
      if (file.id === id && isArchive) return { status: 200, body: bytes };
    }
    return null;
  });
}

const changing = [
  [{ code: "open('/mnt/data/p/a.txt', 'a').write('two\\n') and None" }],
  [{ say: "Done." }],
];

describe("an archive that lies: with", () => {
  it.each(hostile)("%s, nothing of it is taken, and that is told", async (_, bytes) => {
    const folder = repository({ "a.txt": "one\n", "b.txt": "two\n" });
    const to = join(temporaryTree(), "in/the/synced");
    mkdirSync(dirname(to), { recursive: true });
    const stage = await bentStage(changing);
    serve(stage, bytes);
    const section = stage.section({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncOnCleanup: true,
      syncDestination: to,
    });
    await stage.evaluate(section);
    const { failed, directory } = await section.cleanup();
    expect(directory).toBe(to);
    expect(failed).not.toEqual([]);
    for (const { reason } of failed) expect(reason).toMatch(/\w+ \w+/);
    expect(Object.keys(filesIn(to))).toEqual(["p/a.txt", "p/b.txt"]);
    expect(filesIn(to)["p/b.txt"]).toBe("two\n");
    expect(readdirSync(dirname(to))).toEqual(["synced"]);
    const all = [...readdirSync(tmpdir()), ...readdirSync("/"), ...readdirSync("/tmp")];
    expect(all.filter((name) => name.includes("wink-evil"))).toEqual([]);
  });

  it("it, an evaluation is answered all the same, and a reader is told what is wrong", async () => {
    const folder = repository({ "a.txt": "one\n" });
    const stage = await bentStage(changing);
    serve(stage, craftedTar(fine, evil("../wink-evil")));
    const section = stage.section({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncPolicy: "eachTurn",
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    await expect(section.filesystem.readText("p/a.txt")).rejects.toThrow(
      "leads out of its folder: nothing of this archive can be trusted",
    );
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([{ path: ".", reason: expect.stringContaining("leads out") }]);
  });
});

describe("a provider that lies: with", () => {
  const isUpload = ({ method, path }: BentRequest) => method === "POST" && path.endsWith("/files");

  it("a file that it will not have, the file is named", async () => {
    const folder = repository({ "a.txt": "one\n", "sub/bad.txt": "bad" });
    const stage = await bentStage([]);
    stage.bend((request) =>
      isUpload(request) && request.text.includes('filename="bad.txt"')
        ? { status: 400, body: JSON.stringify({ error: { message: "Looks like malware." } }) }
        : null,
    );
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const section = stage.section({ mounts, unpack: "files" });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
    });
    await expect(failing).rejects.toThrow(
      /^"p\/sub\/bad.txt" was refused by the provider: .* status 400: Looks like malware: exclude it, or unpack by "bootstrap", which sends one archive$/,
    );
    expect(section.containerId).toBeNull();
  });

  it.each(["bootstrap", "files"] as const)(
    "fewer bytes than were sent, nothing is taken for whole: %s",
    async (unpack) => {
      const folder = repository({ "a.txt": "one\n" });
      const stage = await bentStage([]);
      stage.bend(async (request) => {
        if (!isUpload(request)) return null;
        const { status, body } = await request.answer();
        return { status, body: JSON.stringify({ ...JSON.parse(String(body)), bytes: 3 }) };
      });
      const mounts = [{ hostPath: folder, mountPath: "p" }];
      const section = stage.section({ mounts, unpack });
      await expect(stage.evaluate(section)).rejects.toThrow(
        /a file of 3 bytes where \d+ were sent/,
      );
      expect(section.containerId).toBeNull();
      expect(stage.requests.at(-1)).toBe("DELETE /containers/·");
      expect(stage.requests).not.toContain("POST /responses");
    },
  );

  it("a list of paths that lead out, none is written, and each is told of", async () => {
    const stage = await bentStage([
      [{ code: "open('/mnt/data/fine.txt', 'w').write('fine') and None" }],
      [{ say: "Done." }],
    ]);
    const paths = ["../../wink-evil", "a//b", "x/../../wink-evil", "nul\0"];
    stage.bend(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.answer();
      const page = JSON.parse(String(body));
      const like = (path: string) => ({ ...page.data[0], source: "assistant", path });
      const more = [...paths.map((path) => `/mnt/data/${path}`), "/etc/passwd"].map(like);
      return { status, body: JSON.stringify({ ...page, data: [...page.data, ...more] }) };
    });
    const section = stage.section({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed, added } = await section.cleanup();
    expect(failed.map(({ path }) => path)).toEqual(paths);
    expect(added).toEqual(["fine.txt"]);
    expect(filesIn(section.syncedDir ?? "")).toEqual({ "fine.txt": "fine" });
  });

  it("a list without end, it is an error and nobody waits", async () => {
    const stage = await bentStage([[{ code: "print(1)" }], [{ say: "Done." }]]);
    stage.bend(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.answer();
      return { status, body: JSON.stringify({ ...JSON.parse(String(body)), has_more: true }) };
    });
    const section = stage.section({ unpack: "files", syncOnCleanup: true });
    await stage.evaluate(section);
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([
      { path: ".", reason: expect.stringContaining("a page of a list that does not move on") },
    ]);
  });
});
