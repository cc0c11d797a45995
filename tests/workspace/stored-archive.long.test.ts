import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type {
  OpenAIAdapterOptions,
  OpenAIContainerWorkspaceSection,
  OpenAIContainerWorkspaceSectionOptions,
} from "weakincentives/openai";
import {
  createInterceptionFixture,
  type InterceptedRequest,
  type InterceptedResponse,
  type InterceptionFixture,
  type Interceptor,
  isWorkspaceRequest,
} from "../support/workspace/interception-fixture.ts";
import { createRepository } from "../support/workspace/workspace-fixture.ts";

const FILES = 1_000;
const KILOBYTE = 1_000;

/** Creates a folder with 1,000 files of 2 kB, which are 3 MB as an archive. */
function createLargeFolder(): string {
  const files: Record<string, string> = {};
  for (let index = 0; index < FILES; index++)
    files[`d${index % 10}/f${index}.txt`] = randomBytes(KILOBYTE).toString("hex");
  return createRepository(files);
}

/** Returns the bytes of all uploads since `from`, and the requests that sent or copied files. */
function listUploads({ seenRequests }: InterceptionFixture, from = 0) {
  const uploads = seenRequests
    .slice(from)
    .filter(({ method, path }) => method === "POST" && path.endsWith("/files"));
  return {
    bytes: uploads.reduce((sum, { text }) => sum + text.length, 0),
    requests: uploads.map(({ path, body }) =>
      path === "/files" ? "store" : "file_id" in body ? "copy" : "upload",
    ),
  };
}

const listDeletions = ({ seenRequests }: InterceptionFixture) =>
  seenRequests.filter(({ method, path }) => method === "DELETE" && path.startsWith("/files/"));

/** Prints the paths, contents and modes below the mount, except of the large file. */
const SHOW = `import os
os.chdir("/mnt/data/p")
for folder, _, names in sorted(os.walk(".")):
    print(folder)
    for name in sorted(names):
        path = folder + "/" + name
        print(path, open(path).read(5), oct(os.stat(path).st_mode)[-3:])`;

describe("a workspace of 3 MB whose container is lost", () => {
  test("uploads only differences, and deletes its stored archive on cleanup", async () => {
    const folder = createLargeFolder();
    const stage = await createInterceptionFixture([
      [{ say: "Ready." }],
      [{ code: SHOW }],
      [{ say: "Done." }],
    ]);
    const section = stage.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    await stage.evaluate(section);
    expect(listUploads(stage).requests).toEqual(["store", "copy"]);
    const { filesystem } = section;
    await filesystem.writeText("p/d1/f1.txt", "short");
    await stage.calls.remove(section.containerId ?? "");
    const before = stage.seenRequests.length;
    await stage.evaluate(section);
    const { bytes, requests } = listUploads(stage, before);
    expect(requests).toEqual(["upload", "copy", "upload"]); // the first one finds the container lost
    expect(bytes).toBeLessThan(10 * KILOBYTE);
    expect(stage.readOutputs().at(-1)).toContain("./d1/f1.txt short 644");
    const unpackings = stage.seenRequests.slice(before).filter(isWorkspaceRequest);
    expect(unpackings).toHaveLength(1);
    expect(stage.bus.events.filter(({ type }) => type === "ContainerReplaced")).toMatchObject([
      { restored: FILES },
    ]);
    await section.cleanup();
    expect(listDeletions(stage)).toHaveLength(1);
  });
});

/** Evaluates twice with a mount of 1.5 MB, and loses the container in between, after `change`. */
async function loseContainer(
  change: (section: OpenAIContainerWorkspaceSection) => Promise<void> = async () => {},
  {
    options = {},
    prepare = () => {},
    adapter = {},
  }: {
    readonly options?: Partial<OpenAIContainerWorkspaceSectionOptions>;
    readonly adapter?: Partial<OpenAIAdapterOptions>;
    prepare?(stage: InterceptionFixture): void;
  } = {},
) {
  const large = randomBytes(750_000).toString("hex");
  const folder = createRepository({
    large,
    "a.txt": "one",
    "sub/b.txt": "two",
    "c/d.txt": "three",
  });
  chmodSync(`${folder}/a.txt`, 0o755);
  const stage = await createInterceptionFixture(
    [[{ say: "Ready." }], [{ code: SHOW }], [{ say: "Done." }]],
    { adapter },
  );
  prepare(stage);
  const section = stage.createSection({
    mounts: [{ hostPath: folder, mountPath: "p" }],
    ...options,
  });
  await stage.evaluate(section);
  await change(section);
  await stage.calls.remove(section.containerId ?? "");
  const before = stage.seenRequests.length;
  await stage.evaluate(section);
  const shown = stage
    .readOutputs()
    .at(-1)
    ?.replaceAll(/large \w+/g, "large …");
  const first = listUploads({ ...stage, seenRequests: stage.seenRequests.slice(0, before) });
  return { stage, section, shown, first, second: listUploads(stage, before) };
}

const UNCHANGED = [
  ...["./a.txt one 755", "./large … 644", "./c", "./c/d.txt three 644"],
  ...["./sub", "./sub/b.txt two 644"],
];

describe("the archive of a workspace", () => {
  test("is copied to the next container, without an upload if nothing differs", async () => {
    const { first, second, shown } = await loseContainer();
    expect(first.requests).toEqual(["store", "copy"]);
    expect(second.requests).toEqual(["copy"]);
    expect(shown).toContain(UNCHANGED.join("\n"));
  });

  test("is supplemented by new, changed and deleted files, modes and folders", async () => {
    const { second, shown } = await loseContainer(async ({ filesystem, tempDir }) => {
      await filesystem.writeText("p/a.txt", "uno");
      await filesystem.delete("p/sub/b.txt");
      await filesystem.delete("p/c/d.txt");
      await filesystem.writeText("p/new/deep.txt", "four");
      chmodSync(`${tempDir}/p/a.txt`, 0o600);
      rmdirSync(`${tempDir}/p/c`);
      writeFileSync(`${tempDir}/p/c`, "file");
      mkdirSync(`${tempDir}/p/empty`);
    });
    expect(second.requests).toEqual(["upload", "copy", "upload"]);
    const lines = [
      ...["./a.txt uno 600", "./c file 644", "./large … 644", "./empty"],
      ...["./new", "./new/deep.txt four 644", "./sub"],
    ];
    expect(shown).toContain(lines.join("\n"));
  });

  test("is replaced if more than half of it differs", async () => {
    const { stage, section, second } = await loseContainer(async ({ tempDir }) => {
      chmodSync(`${tempDir}/p/large`, 0o600);
    });
    expect(second.requests).toEqual(["store", "copy"]);
    expect(listDeletions(stage)).toHaveLength(1);
    await section.cleanup();
    expect(listDeletions(stage)).toHaveLength(2);
  });

  test("is stored again if the stored file has expired", async () => {
    const { second, stage, section } = await loseContainer(undefined, {
      prepare: (fixture) =>
        fixture.intercept(({ body }) => {
          const isSecond = listUploads(fixture).requests.filter((one) => one === "copy").length > 1;
          if (!("file_id" in body) || !isSecond || hasFailed.has(fixture)) return null;
          hasFailed.add(fixture);
          return { status: 404, body: '{"error":{"message":"No such File object: file-1"}}' };
        }),
    });
    expect(second.requests).toEqual(["copy", "store", "copy"]);
    await section.cleanup();
    expect(listDeletions(stage)).toHaveLength(2);
  });

  test("is uploaded to each container if the provider does not store files", async () => {
    const { first, second, shown } = await loseContainer(undefined, {
      prepare: (fixture) =>
        fixture.intercept(({ path }) =>
          path === "/files" ? { status: 404, body: '{"error":{"message":"Not found."}}' } : null,
        ),
    });
    expect(first.requests).toEqual(["store", "upload"]);
    expect(second.requests).toEqual(["upload"]);
    expect(shown).toContain(UNCHANGED.join("\n"));
  });

  test("is deleted and uploaded if stored files cannot be copied to containers", async () => {
    const { first, second, stage } = await loseContainer(undefined, {
      prepare: (fixture) =>
        fixture.intercept(({ body }) =>
          "file_id" in body ? { status: 400, body: '{"error":{"message":"Missing file."}}' } : null,
        ),
    });
    expect(first.requests).toEqual(["store", "copy", "upload"]);
    expect(second.requests).toEqual(["upload"]);
    expect(listDeletions(stage)).toHaveLength(1);
  });

  test("is never stored with zero data retention", async () => {
    const { first, second } = await loseContainer(undefined, {
      adapter: { compaction: { zdrMode: true } },
    });
    expect(first.requests).toEqual(["upload"]);
    expect(second.requests).toEqual(["upload"]);
  });
});

/** Starts an evaluation with a mount of 1.2 MB, whose requests can be intercepted. */
async function startLarge(by: Interceptor) {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const logger = { debug: log, info: log, warn: log, error: log };
  const stage = await createInterceptionFixture([[{ say: "Ready." }], [{ say: "Again." }]], {
    adapter: { logger },
  });
  stage.intercept(by);
  const folder = createRepository({ "large.txt": randomBytes(600_000).toString("hex") });
  const section = stage.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] });
  return { stage, section, lines };
}

const UNAVAILABLE = { status: 503, body: '{"error":{"message":"Later."}}' };

describe("a stored archive", () => {
  test("is left to expire if it cannot be deleted", async () => {
    const { stage, section, lines } = await startLarge(({ method }) =>
      method === "DELETE" ? { status: 403, body: '{"error":{"message":"Not yours."}}' } : null,
    );
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ failed: [] });
    expect(lines).toContain("could not delete a stored file");
    const stored = stage.seenRequests.find(({ path }) => path === "/files");
    expect(stored?.text).toContain("86400");
  });

  test("is deleted if its copy fails, and the next evaluation stores another", async () => {
    let isOn = true;
    const { stage, section } = await startLarge(({ body }) =>
      isOn && "file_id" in body ? UNAVAILABLE : null,
    );
    await expect(stage.evaluate(section)).rejects.toThrow("Later");
    expect(listUploads(stage).requests).toEqual(["store", "copy", "copy", "copy"]);
    expect(listDeletions(stage)).toHaveLength(1);
    isOn = false;
    const before = stage.seenRequests.length;
    await stage.evaluate(section);
    expect(listUploads(stage, before).requests).toEqual(["store", "copy"]);
  });

  test("is not replaced by an upload if the provider is unavailable", async () => {
    const { stage, section } = await startLarge(({ path }) =>
      path === "/files" ? UNAVAILABLE : null,
    );
    await expect(stage.evaluate(section)).rejects.toThrow("Later");
    expect(listUploads(stage).requests).toEqual(["store", "store", "store"]);
    expect(listDeletions(stage)).toEqual([]);
  });

  test("is stored again if its files had the wrong digest at first", async () => {
    let unpackings = 0;
    const { stage, section } = await startLarge((request) => {
      if (!isWorkspaceRequest(request)) return null;
      unpackings += 1;
      return unpackings === 1 ? answerWithoutDigest(request) : null;
    });
    await stage.evaluate(section);
    expect(listUploads(stage).requests).toEqual(["store", "copy", "store", "copy"]);
    expect(listDeletions(stage)).toHaveLength(1);
  });
});

/** Returns the provider's response with other digests than those that the code printed. */
async function answerWithoutDigest(request: InterceptedRequest): Promise<InterceptedResponse> {
  const response = await request.forward();
  const body = String(response.body).replaceAll(/[0-9a-f]{64}/g, "0".repeat(64));
  return { ...response, body };
}

const hasFailed = new WeakSet<InterceptionFixture>();
