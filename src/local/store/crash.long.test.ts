import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { describe, expect, it } from "vitest";
import { createTemporaryDataDir, startLocalStorage } from "../../../tests/support/local-storage.ts";
import { startLocalStorageProcess } from "../../../tests/support/local-storage-process.ts";
import { systemClock } from "../../base/clock.ts";

/** Writes as fast as possible until the server is killed, and records every acknowledged write. */
async function writeUntilKilled(client: OpenAI, kept: Acknowledged): Promise<void> {
  try {
    for (let step = 0; ; step++) {
      const name = `step-${step}`;
      const file = await client.files.create({
        file: await toFile(Buffer.from(name.repeat(1000)), `${name}.txt`),
        purpose: "user_data",
      });
      kept.files.set(file.id, name.repeat(1000));
      const container = await client.containers.create({ name, file_ids: [file.id] });
      kept.containers.add(container.id);
      const upload = await toFile(Buffer.from(name), "upload.txt");
      const added = await client.containers.files.create(container.id, { file: upload });
      kept.uploads.set(added.id, { containerId: container.id, path: added.path, content: name });
    }
  } catch {
    // The server was killed.
  }
}

interface Acknowledged {
  readonly files: Map<string, string>;
  readonly containers: Set<string>;
  readonly uploads: Map<string, { containerId: string; path: string; content: string }>;
}

describe("a killed server", () => {
  it("loses no acknowledged data and shows no partial data", {
    timeout: 20_000,
  }, async () => {
    using folder = createTemporaryDataDir();
    const kept: Acknowledged = { files: new Map(), containers: new Set(), uploads: new Map() };
    for (let round = 0; round < 2; round++) {
      await using server = await startLocalStorageProcess(folder.path);
      const client = new OpenAI({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
      const enough = (round + 1) * 15;
      const writing = Promise.all([writeUntilKilled(client, kept), writeUntilKilled(client, kept)]);
      await expect.poll(() => kept.uploads.size).toBeGreaterThan(enough);
      await server.kill();
      await writing;
    }

    await using api = await startLocalStorage({ dataDir: folder.path, clock: systemClock });
    for (const [id, content] of kept.files) {
      expect(await (await api.client.files.content(id)).text()).toBe(content);
    }
    for (const id of kept.containers) {
      expect(api.containers.retrieve(id).status).toBe("running");
    }
    for (const [id, { containerId, path, content }] of kept.uploads) {
      const scope = { container_id: containerId };
      const file = await api.client.containers.files.retrieve(id, scope);
      expect(file).toMatchObject({ path, bytes: content.length, source: "user" });
      const answer = await api.client.containers.files.content.retrieve(id, scope);
      expect(await answer.text()).toBe(content);
    }
    for await (const file of api.client.files.list()) {
      const answer = await api.client.files.content(file.id);
      expect((await answer.text()).length).toBe(file.bytes);
    }
    expect(readdirSync(join(folder.path, "incoming"))).toEqual([]);
  });

  it("deletes orphaned files and folders at the next start", async () => {
    using folder = createTemporaryDataDir();
    let known = "";
    {
      await using api = await startLocalStorage({ dataDir: folder.path });
      known = (await api.containers.create({ name: "known" })).id;
      writeFileSync(join(folder.path, "files", "file-half"), "half");
      writeFileSync(join(folder.path, "incoming", "incoming-half"), "half");
      writeFileSync(join(folder.path, "containers", "cntr_half"), "half");
    }
    await using api = await startLocalStorage({ dataDir: folder.path });
    await expect.poll(() => readdirSync(join(folder.path, "containers"))).toEqual([known]);
    expect(readdirSync(join(folder.path, "files"))).toEqual([]);
    expect(readdirSync(join(folder.path, "incoming"))).toEqual([]);
    expect(api.faults).toEqual([]);
  });
});
