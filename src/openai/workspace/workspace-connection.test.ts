import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readTarContents } from "../../../tests/support/read-tar-contents.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { createInterceptionFixture } from "../../../tests/support/workspace/interception-fixture.ts";
import { systemClock } from "../../base/clock.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { ContainerCalls } from "../http/container-calls.ts";
import { Mirror } from "./mirror.ts";
import { createUploadName } from "./python-snippets.ts";
import { sendFolder } from "./transfer/send-folder.ts";
import { WorkspaceConnection } from "./workspace-connection.ts";

async function createUploadStage() {
  const stage = await createInterceptionFixture([]);
  const mirror = new Mirror(reserveFolder(), { plan: planMounts([], { allowedHostRoots: [] }) });
  onTestFinished(() => mirror.remove());
  await mirror.ready();
  const calls = new ContainerCalls(stage.client);
  const { id: containerId } = await calls.create({ name: "test" });
  const connection = new WorkspaceConnection(stage.client, systemClock);
  const options = { name: "x.tar", isReported: false };
  const upload = (folder: string, signal = new AbortController().signal) =>
    sendFolder(folder, { ...options, mirror, signal }, async (file, digest) => {
      const upload = { file, digest, contents: () => new Map<string, string>(), mirror };
      await connection.upload(upload, { containerId, signal });
    });
  const listStages = () =>
    readdirSync(dirname(mirror.root)).filter((name) => name.startsWith("stage"));
  return { stage, upload, calls, containerId, listStages };
}

describe("sendFolder() and WorkspaceConnection.upload()", () => {
  const folder = () => temporaryTree({ "a.txt": "one", "sub/b.bin": Buffer.alloc(100_000, 7) });

  test("uploads a complete archive and removes temporary files", async () => {
    const { upload, calls, containerId, listStages } = await createUploadStage();
    const from = folder();
    chmodSync(join(from, "a.txt"), 0o640);
    const { modes: packed, bytes } = await upload(from);
    expect([...packed]).toEqual([["a.txt", 0o640]]);
    expect(bytes).toBe(4 * 512 + 100_352 + 1024);
    const at = join(temporaryTree(), "x.tar");
    for await (const { id } of calls.list(containerId))
      writeFileSync(at, await calls.download(containerId, id));
    const { files, modes } = await readTarContents(at);
    expect(modes).toEqual({ "a.txt": 0o640, "sub/b.bin": 0o644 });
    expect(Object.keys(files)).toEqual(["a.txt", "sub/b.bin"]);
    expect(files["sub/b.bin"]).toEqual(Buffer.alloc(100_000, 7));
    expect(listStages()).toEqual([]);
  });

  test("resends the whole archive when the provider is unavailable", async () => {
    const { stage, upload } = await createUploadStage();
    const lengths: number[] = [];
    stage.intercept(({ path, text }) => {
      if (!path.endsWith("/files")) return null;
      lengths.push(text.length);
      if (lengths.length > 1) return null;
      return { status: 503, body: '{"error":{"message":"Later."}}' };
    });
    await upload(folder());
    expect(lengths).toHaveLength(2);
    expect(Math.abs((lengths[0] ?? 0) - (lengths[1] ?? 0))).toBeLessThan(100);
  });

  test("sends nothing after an abort and removes temporary files", async () => {
    const { stage, upload, listStages } = await createUploadStage();
    const signal = AbortSignal.abort(new Error("Enough."));
    const sending = upload(folder(), signal);
    await expect(sending).rejects.toThrow("Enough.");
    expect([stage.requests, listStages()]).toEqual([["POST /containers"], []]);
  });

  test("createUploadName() returns unique names", () => {
    const names = new Set(Array.from({ length: 100 }, () => createUploadName("tar")));
    expect(names.size).toBe(100);
    for (const name of names) expect(name).toMatch(/^wink-7c1e-[0-9a-f]{16}\.tar$/);
  });
});
