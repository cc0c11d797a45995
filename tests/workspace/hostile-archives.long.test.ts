import { mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CraftedEntry, createPaxRecords, createTar } from "../support/crafted-tar.ts";
import { temporaryTree } from "../support/temporary-tree.ts";
import {
  createInterceptionFixture,
  type InterceptedRequest,
  type InterceptionFixture,
} from "../support/workspace/interception-fixture.ts";
import { createRepository, readFiles } from "../support/workspace/workspace-fixture.ts";

const REPORT = ".wink-report.json";

/** Creates the report entry of an archive. */
function createReport(said: object | string): CraftedEntry {
  return { name: REPORT, content: typeof said === "string" ? said : JSON.stringify(said) };
}

const validReport = createReport({ deleted: [], skipped: [], folders: ["p"] });
const createEvilEntry = (name: string, more: CraftedEntry = {}): CraftedEntry => ({
  name,
  content: "evil",
  ...more,
});

const hostile: readonly (readonly [string, Buffer])[] = [
  ["an absolute name", createTar(validReport, createEvilEntry("/tmp/wink-evil"))],
  [
    "a name that leads out of the folder",
    createTar(validReport, createEvilEntry("p/../../../wink-evil")),
  ],
  [
    "a long name that leads out of the folder",
    createTar(validReport, ...createLongName(`${"../".repeat(60)}wink-evil`)),
  ],
  [
    "a symlink to write through",
    createTar(validReport, { name: "p/out", type: "2" }, createEvilEntry("p/out/wink-evil")),
  ],
  ["a hard link instead of a file", createTar(validReport, { name: "p/a.txt", type: "1" })],
  [
    "devices and pipes",
    createTar(validReport, { name: "p/d", type: "3" }, { name: "p/f", type: "6" }),
  ],
  [
    "a duplicate name",
    createTar(validReport, createEvilEntry("p/a.txt"), createEvilEntry("p/a.txt")),
  ],
  [
    "a path that is both a file and a folder",
    createTar(validReport, createEvilEntry("p/a.txt"), createEvilEntry("p/a.txt/b")),
  ],
  ["a file that is not in the digest", createTar(validReport, createEvilEntry("p/wink-evil"))],
  ["bytes that do not match the digest", createTar(validReport, createEvilEntry("p/a.txt"))],
  ["a name with a control character", createTar(validReport, createEvilEntry("p/wink\u0007evil"))],
  ["no end", createTar(validReport, createEvilEntry("p/a.txt")).subarray(0, 1_600)],
  [
    "less data than its header claims",
    createTar(validReport, createEvilEntry("p/a.txt", { size: 5_000_000_000 })),
  ],
  [
    "a size beyond the limit",
    createTar(validReport, createEvilEntry("p/a.txt", { size: "77777777777\0" })),
  ],
  ["no bytes", Buffer.alloc(0)],
  ["noise", Buffer.alloc(4_096, "wink")],
  ["no report", createTar(createEvilEntry("p/a.txt"))],
  ["a report that is not JSON", createTar(createReport("{"))],
  [
    "a report with paths that lead out of the folder",
    createTar(
      createReport({
        deleted: ["../../../wink-evil", "/etc/passwd", "p/a.txt"],
        folders: ["../../wink-evil", "/wink-evil", "p"],
        skipped: [null, 7, ["x"]],
      }),
    ),
  ],
];

function createLongName(name: string): readonly CraftedEntry[] {
  const content = createPaxRecords({ path: name });
  return [{ name: "pax", type: "x", content }, createEvilEntry("short")];
}

/** Returns these bytes instead of every archive that is downloaded. */
function serveArchive(fixture: InterceptionFixture, bytes: Uint8Array): void {
  fixture.intercept(async ({ path }) => {
    const [, containerId = "", id = ""] =
      /^\/containers\/([^/]+)\/files\/([^/]+)\/content$/.exec(path) ?? [];
    if (id === "") return null;
    for await (const file of fixture.calls.list(containerId)) {
      const isArchive = /wink-\w+-\w+\.tar$/.test(file.path);
      if (file.id === id && isArchive) return { status: 200, body: bytes };
    }
    return null;
  });
}

const changeScript = [
  [{ code: "open('/mnt/data/p/a.txt', 'a').write('two\\n') and None" }],
  [{ say: "Done." }],
];

describe("a hostile archive", () => {
  it.each(hostile)("with %s is rejected completely and reported", async (_, bytes) => {
    const folder = createRepository({ "a.txt": "one\n", "b.txt": "two\n" });
    const to = join(temporaryTree(), "in/the/synced");
    mkdirSync(dirname(to), { recursive: true });
    const fixture = await createInterceptionFixture(changeScript);
    serveArchive(fixture, bytes);
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncOnCleanup: true,
      syncDestination: to,
    });
    await fixture.evaluate(section);
    const { failed, directory } = await section.cleanup();
    expect(directory).toBe(to);
    expect(failed).not.toEqual([]);
    for (const { reason } of failed) expect(reason).toMatch(/\w+ \w+/);
    expect(Object.keys(readFiles(to))).toEqual(["p/a.txt", "p/b.txt"]);
    expect(readFiles(to)["p/b.txt"]).toBe("two\n");
    expect(readdirSync(dirname(to))).toEqual(["synced"]);
    const all = [...readdirSync(tmpdir()), ...readdirSync("/"), ...readdirSync("/tmp")];
    expect(all.filter((name) => name.includes("wink-evil"))).toEqual([]);
  });

  it("does not fail the evaluation, but makes reads fail with the reason", async () => {
    const folder = createRepository({ "a.txt": "one\n" });
    const fixture = await createInterceptionFixture(changeScript);
    serveArchive(fixture, createTar(validReport, createEvilEntry("../wink-evil")));
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncPolicy: "eachTurn",
    });
    expect((await fixture.evaluate(section)).text).toBe("Done.");
    await expect(section.filesystem.readText("p/a.txt")).rejects.toThrow(
      "leads out of its folder. Do not use this archive.",
    );
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([{ path: ".", reason: expect.stringContaining("leads out") }]);
  });
});

describe("a hostile provider", () => {
  const isUpload = ({ method, path }: InterceptedRequest) =>
    method === "POST" && path.endsWith("/files");

  it("that rejects a file makes the error name the file", async () => {
    const folder = createRepository({ "a.txt": "one\n", "sub/bad.txt": "bad" });
    const fixture = await createInterceptionFixture([]);
    fixture.intercept((request) =>
      isUpload(request) && request.text.includes('filename="bad.txt"')
        ? { status: 400, body: JSON.stringify({ error: { message: "Looks like malware." } }) }
        : null,
    );
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const section = fixture.createSection({ mounts, unpack: "files" });
    const failing = fixture.evaluate(section);
    await expect(failing).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
    });
    await expect(failing).rejects.toThrow(
      /^The provider rejected "p\/sub\/bad.txt" \(.* status 400: Looks like malware\)\. Exclude the file, or set unpack to "bootstrap", which uploads one archive\.$/,
    );
    expect(section.containerId).toBeNull();
  });

  it.each(["bootstrap", "files"] as const)(
    "that reports fewer bytes than were sent fails the upload: %s",
    async (unpack) => {
      const folder = createRepository({ "a.txt": "one\n" });
      const fixture = await createInterceptionFixture([]);
      fixture.intercept(async (request) => {
        if (!isUpload(request)) return null;
        const { status, body } = await request.forward();
        return { status, body: JSON.stringify({ ...JSON.parse(String(body)), bytes: 3 }) };
      });
      const mounts = [{ hostPath: folder, mountPath: "p" }];
      const section = fixture.createSection({ mounts, unpack });
      await expect(fixture.evaluate(section)).rejects.toThrow(
        /a file of 3 bytes where \d+ were sent/,
      );
      expect(section.containerId).toBeNull();
      expect(fixture.requests.at(-1)).toBe("DELETE /containers/·");
      expect(fixture.requests).not.toContain("POST /responses");
    },
  );

  it("that lists paths outside the folder causes a report for each, and no writes", async () => {
    const fixture = await createInterceptionFixture([
      [{ code: "open('/mnt/data/fine.txt', 'w').write('fine') and None" }],
      [{ say: "Done." }],
    ]);
    const paths = ["../../wink-evil", "a//b", "x/../../wink-evil", "nul\0"];
    fixture.intercept(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.forward();
      const page = JSON.parse(String(body));
      const like = (path: string) => ({ ...page.data[0], source: "assistant", path });
      const more = [...paths.map((path) => `/mnt/data/${path}`), "/etc/passwd"].map(like);
      return { status, body: JSON.stringify({ ...page, data: [...page.data, ...more] }) };
    });
    const section = fixture.createSection({ unpack: "files", syncOnCleanup: true });
    await fixture.evaluate(section);
    const { failed, added } = await section.cleanup();
    expect(failed.map(({ path }) => path)).toEqual(paths);
    expect(added).toEqual(["fine.txt"]);
    expect(readFiles(section.syncedDir ?? "")).toEqual({ "fine.txt": "fine" });
  });

  it("that lists files without end causes an error instead of a hang", async () => {
    const fixture = await createInterceptionFixture([[{ code: "print(1)" }], [{ say: "Done." }]]);
    fixture.intercept(async (request) => {
      if (request.method !== "GET" || !request.path.endsWith("/files")) return null;
      const { status, body } = await request.forward();
      return { status, body: JSON.stringify({ ...JSON.parse(String(body)), has_more: true }) };
    });
    const section = fixture.createSection({ unpack: "files", syncOnCleanup: true });
    await fixture.evaluate(section);
    const { failed } = await section.cleanup();
    expect(failed).toMatchObject([
      { path: ".", reason: expect.stringContaining("returned the same page of a list again") },
    ]);
  });
});
