import OpenAI, { toFile } from "openai";
import { describe, expect, test } from "vitest";
import {
  type ProviderFixture,
  readAnswer,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const createClient = ({ url, fetch }: ProviderFixture) =>
  new OpenAI({ baseURL: url, apiKey: "none", fetch, maxRetries: 0 });

/** Uploads a text in two parts and returns the id of the file. */
async function uploadText({ uploads }: OpenAI, text: string): Promise<string> {
  const upload = await uploads.create({
    ...{ filename: "birds.txt", purpose: "assistants", mime_type: "text/plain" },
    bytes: text.length,
  });
  const part_ids: string[] = [];
  for (const piece of [text.slice(0, 5), text.slice(5)]) {
    const data = await toFile(Buffer.from(piece), "part");
    part_ids.push((await uploads.parts.create(upload.id, { data })).id);
  }
  const { file } = await uploads.complete(upload.id, { part_ids });
  return file?.id ?? "";
}

describe("a file that was uploaded in parts", () => {
  test("is in a container at once, and code reads it", async () => {
    const code = "import glob; print(open(glob.glob('*birds.txt')[0]).read())";
    const on = await startProviderFixture([[{ code }, { say: "Read." }]]);
    const client = createClient(on);
    const id = await uploadText(client, "raven parrot");
    const { id: container } = await client.containers.create({ name: "birds", file_ids: [id] });
    const response = await on.respond({
      input: "Read it.",
      tools: [{ type: "code_interpreter", container }],
      include: ["code_interpreter_call.outputs"],
    });
    expect(response["output"]).toMatchObject([{ outputs: [{ logs: "raven parrot\n" }] }, {}]);
    expect(readAnswer(response)).toBe("Read.");
  });

  test("is indexed by a vector store, and found", async () => {
    const on = await startProviderFixture([]);
    const client = createClient(on);
    const id = await uploadText(client, "The raven likes walnuts.");
    const { vectorStores } = client;
    const store = await vectorStores.create({ name: "Birds", file_ids: [id] });
    await vectorStores.files.poll(store.id, id, { pollIntervalMs: 10 });
    const { data } = await vectorStores.search(store.id, { query: "walnuts" });
    expect(data).toMatchObject([{ file_id: id, filename: "birds.txt" }]);
  });

  test("cannot be completed or continued after it was cancelled over HTTP without a body", async () => {
    const on = await startProviderFixture([]);
    const { uploads } = createClient(on);
    const { id } = await uploads.create({
      ...{ filename: "a.txt", purpose: "vision", mime_type: "text/plain", bytes: 8 },
    });
    const answer = await on.fetch(`${on.url}/uploads/${id}/cancel`, { method: "POST" });
    expect(await answer.json()).toMatchObject({ id, status: "cancelled" });
    await expect(uploads.complete(id, { part_ids: ["part_1"] })).rejects.toThrow("is cancelled");
  });
});
