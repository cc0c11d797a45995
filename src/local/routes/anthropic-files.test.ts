import { describe, expect, test } from "vitest";
import { plain, startMessagesFixture } from "../../../tests/support/local/messages-fixture.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";

const headers = { "anthropic-version": "2023-06-01" };

async function startFilesFixture() {
  const fixture = await startMessagesFixture([
    [{ code: "open('made.csv', 'w').write('a,b')" }, { say: "Made." }],
  ]);
  const upload = async (fields: Readonly<Record<string, string | Blob>>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const response = await fetch(`${fixture.base}/v1/files`, { method: "POST", headers, body });
    const answer: WireItem = { ...Object(await response.json()) };
    return { status: response.status, answer };
  };
  const get = (path: string) => fixture.ask(undefined, `GET /v1/files${path}`, headers);
  return { ...fixture, upload, get };
}

const birds = new File(["owls"], "birds.txt");

describe("/v1/files for Anthropic's clients", () => {
  test("stores an upload in Anthropic's format, until it expires or is deleted", async () => {
    const { upload, get, ask } = await startFilesFixture();
    const { answer } = await upload({ file: birds, expires_in_seconds: "3600" });
    const { id } = answer;
    expect(answer).toEqual({
      id: expect.any(String),
      type: "file",
      filename: "birds.txt",
      mime_type: expect.stringContaining("text/plain"),
      size_bytes: 4,
      created_at: expect.stringMatching(/Z$/),
      downloadable: false,
      expires_at: expect.stringMatching(/Z$/),
    });
    expect((await get(`/${id}`)).body).toEqual(answer);
    expect(await get(`/${id}/content`)).toMatchObject({
      status: 400,
      body: { error: { message: `File '${id}' is not downloadable: it is an upload.` } },
    });
    expect((await ask(undefined, `DELETE /v1/files/${id}`, headers)).body).toEqual({
      id,
      type: "file_deleted",
    });
    expect(await get(`/${id}`)).toMatchObject({
      status: 404,
      body: { type: "error", error: { type: "not_found_error", message: `File not found: ${id}` } },
    });
  });

  test("lists uploads page by page", async () => {
    const { upload, get } = await startFilesFixture();
    expect((await get("")).body).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
      next_page: null,
    });
    const { answer: one } = await upload({ file: birds });
    const { answer: two } = await upload({ file: new File(["x"], "mice.odd") });
    expect(two["mime_type"]).toBe("application/octet-stream");
    const { body: page } = await get("?limit=1&beta=true");
    expect(page).toMatchObject({ data: [two], has_more: true, next_page: two["id"] });
    expect((await get(`?limit=1&page=${page["next_page"]}`)).body).toMatchObject({
      data: [one],
      has_more: false,
      next_page: null,
    });
  });

  test("rejects forms without a file, with unknown fields or with a wrong lifetime", async () => {
    const { upload } = await startFilesFixture();
    const check = async (fields: Readonly<Record<string, string | Blob>>) => {
      const { status, answer } = await upload(fields);
      return [status, Object(answer["error"]).message];
    };
    expect(await check({ file: birds, purpose: "odd" })).toEqual([
      400,
      "purpose: Extra inputs are not permitted",
    ]);
    expect(await check({ expires_in_seconds: "3600" })).toEqual([400, "file: Field required"]);
    expect(await check({ file: birds, expires_in_seconds: "1" })).toEqual([
      400,
      expect.stringContaining("expires_in_seconds"),
    ]);
  });

  test("serves the files that code created", async () => {
    const { message, get, ask, base } = await startFilesFixture();
    const tools = [{ type: "code_execution_20250522", name: "code_execution" }];
    const { content } = await message({ tools });
    const [, result] = Array.isArray(content) ? content.filter(isPlainObject) : [];
    const { file_id: id } = Object(result?.["content"]).content[0];
    expect((await get(`/${id}`)).body).toMatchObject({
      filename: "made.csv",
      size_bytes: 3,
      downloadable: true,
    });
    const response = await fetch(`${base}/v1/files/${id}/content`, { headers });
    expect([response.headers.get("request-id"), await response.text()]).toEqual([
      expect.stringMatching(/^req_/),
      "a,b",
    ]);
    await ask(undefined, `DELETE /v1/files/${id}`, headers);
    expect((await get(`/${id}/content`)).status).toBe(404);
  });

  test("rejects messages that refer to unknown files", async () => {
    const { ask } = await startFilesFixture();
    const document = { type: "document", source: { type: "file", file_id: "file_none" } };
    for (const block of [document, { type: "container_upload", file_id: "file_none" }]) {
      const messages = [{ role: "user", content: [block] }];
      expect(await ask({ ...plain, messages })).toMatchObject({
        status: 400,
        body: { error: { message: "messages.0.content.0: File not found: file_none" } },
      });
    }
  });

  test("leaves OpenAI's clients their own format", async () => {
    const { ask } = await startFilesFixture();
    expect((await ask(undefined, "GET /v1/files")).body).toMatchObject({ object: "list" });
    expect((await ask(undefined, "GET /v1/files/none")).body).toMatchObject({
      error: { message: "No such File object: none" },
    });
  });
});
