import { createHash, randomFillSync } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { expect, test } from "vitest";
import { startProviderFixture } from "../support/local/provider-fixture.ts";
import { createTemporaryDataDir } from "../support/local-storage.ts";

const MIB = 2 ** 20;

test("a file of 100 MiB is uploaded in parallel parts of 16 MiB, and its bytes are unchanged", async () => {
  using folder = createTemporaryDataDir();
  const { url } = await startProviderFixture([], { dataDir: folder.path });
  const { uploads, files } = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const content = randomFillSync(Buffer.alloc(100 * MIB));
  const md5 = createHash("md5").update(content).digest("hex");
  const { id } = await uploads.create({
    ...{ filename: "noise.bin", purpose: "user_data", mime_type: "application/octet-stream" },
    bytes: content.length,
  });
  const pieces = Array.from({ length: 7 }, (_, at) =>
    content.subarray(at * 16 * MIB, (at + 1) * 16 * MIB),
  );
  const parts = await Promise.all(
    pieces.map(async (piece) => uploads.parts.create(id, { data: await toFile(piece, "part") })),
  );
  const completed = await uploads.complete(id, { part_ids: parts.map((part) => part.id), md5 });
  expect(completed.file).toMatchObject({ bytes: 100 * MIB, filename: "noise.bin" });
  const download = await files.content(completed.file?.id ?? "");
  const hash = createHash("md5");
  for await (const chunk of download.body ?? []) hash.update(chunk);
  expect(hash.digest("hex")).toBe(md5);
  expect(readdirSync(join(folder.path, "uploads"))).toEqual([]);
  expect(readdirSync(join(folder.path, "incoming"))).toEqual([]);
});
