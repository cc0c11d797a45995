import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { NotFoundError, toFile } from "openai";
import { describe, expect, it } from "vitest";
import { START, startLocalStorage } from "../../../tests/support/local-storage.ts";

/** Reads the body of an error response. */
async function readError(answer: Response | Promise<Response>) {
  const response = await answer;
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  return { status: response.status, ...error };
}

function createForm(fields: Record<string, string | File>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
}

describe("the files API with the official client", () => {
  it("uploads, retrieves, downloads and deletes a file", async () => {
    await using api = await startLocalStorage();
    const { files } = api.client;
    const file = await files.create({
      file: await toFile(Buffer.from("one,two"), "数 data.csv"),
      purpose: "assistants",
    });

    expect(file).toEqual({
      id: expect.stringMatching(/^file-\w+$/),
      object: "file",
      bytes: 7,
      created_at: START / 1000,
      expires_at: null,
      filename: "数 data.csv",
      purpose: "assistants",
      status: "processed",
      status_details: null,
    });
    expect(await files.retrieve(file.id)).toEqual(file);
    const content = await files.content(file.id);
    expect(await content.text()).toBe("one,two");
    expect(content.headers.get("content-disposition")).toBe(
      "attachment; filename=\"file.csv\"; filename*=UTF-8''%E6%95%B0%20data.csv",
    );
    expect(content.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(await files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(files.retrieve(file.id)).rejects.toThrow(NotFoundError);
    expect(readdirSync(join(api.dataDir, "files"))).toEqual([]);
  });

  it("lists by page and by purpose, even while the client deletes", async () => {
    await using api = await startLocalStorage();
    const { files } = api.client;
    for (const [index, purpose] of (
      ["user_data", "vision", "user_data", "user_data"] as const
    ).entries()) {
      await files.create({ file: await toFile(Buffer.from("x"), `${index}.txt`), purpose });
    }
    const names: string[] = [];
    for await (const file of files.list({ limit: 2, order: "asc", purpose: "user_data" })) {
      names.push(file.filename);
      await files.delete(file.id);
    }
    expect(names).toEqual(["0.txt", "2.txt", "3.txt"]);
    const backwards = await fetch(`${api.url}/files?order=asc&before=nothing`);
    expect(backwards.status).toBe(400);
    const page = await files.list();
    expect(page.data.map(({ filename }) => filename)).toEqual(["1.txt"]);
    expect(page.has_more).toBe(false);
  });

  it("lists the files before a file, nearest first", async () => {
    await using api = await startLocalStorage();
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const file = await toFile(Buffer.from("x"), name);
      ids.push((await api.client.files.create({ file, purpose: "user_data" })).id);
    }
    const listNames = async (query: string) => {
      const answer = await fetch(`${api.url}/files?limit=2&${query}`);
      const page = (await answer.json()) as { data: { filename: string }[]; has_more: boolean };
      return [page.data.map(({ filename }) => filename).join(""), page.has_more];
    };
    expect(await listNames(`order=asc&before=${ids[3]}`)).toEqual(["bc", true]);
    expect(await listNames(`before=${ids[0]}`)).toEqual(["cb", true]);
    expect(await listNames(`before=${ids[2]}`)).toEqual(["d", false]);
    expect(await listNames(`after=${ids[3]}&before=${ids[0]}`)).toEqual(["cb", false]);
  });

  it("encodes file names that headers cannot contain", async () => {
    await using api = await startLocalStorage();
    const file = await toFile(Buffer.from(""), `it's (1)*;"x".Ünï`);
    const { id, bytes } = await api.client.files.create({ file, purpose: "user_data" });
    const answer = await fetch(`${api.url}/files/${id}/content`);
    expect([bytes, await answer.text()]).toEqual([0, ""]);
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    expect(answer.headers.get("content-disposition")).toMatch(
      /^attachment; filename="file\.\w*"; filename\*=UTF-8''it%27s%20%281%29%2A%3B%/,
    );
  });

  it("closes a file that is not read completely", async () => {
    await using api = await startLocalStorage();
    const file = await toFile(Buffer.alloc(20_000_000), "big.bin");
    const { id } = await api.client.files.create({ file, purpose: "user_data" });
    const open = () =>
      readdirSync("/proc/self/fd").filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).endsWith(id);
        } catch {
          return false; // closed in the meantime
        }
      }).length;
    const leaving = new AbortController();
    const answer = await fetch(`${api.url}/files/${id}/content`, { signal: leaving.signal });
    expect(answer.status).toBe(200);
    if (process.platform === "linux") expect(open()).toBe(1);
    leaving.abort();
    await expect(answer.text()).rejects.toThrow("aborted");
    if (process.platform === "linux") await expect.poll(open).toBe(0);
  });

  it("deletes a file when it expires", async () => {
    await using api = await startLocalStorage();
    const { files } = api.client;
    const file = await files.create({
      file: await toFile(Buffer.from("x"), "a.txt"),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 3600 },
    });
    const batch = await files.create({
      file: await toFile(Buffer.from("{}"), "b.jsonl"),
      purpose: "batch",
    });
    expect(file.expires_at).toBe(START / 1000 + 3600);
    expect(batch.expires_at).toBe(START / 1000 + 2_592_000);
    await api.clock.advance(3600_000);
    await expect(files.retrieve(file.id)).rejects.toThrow(NotFoundError);
    expect(readdirSync(join(api.dataDir, "files"))).toEqual([batch.id]);
  });
});

describe("the files API rejects", () => {
  it("an unknown id, with OpenAI's message in both places", async () => {
    await using api = await startLocalStorage();
    for (const path of ["fake_id", "fake_id/content", "..%2Flocal.sqlite/content"]) {
      expect(await readError(fetch(`${api.url}/files/${path}`))).toMatchObject({ status: 404 });
    }
    const answer = await fetch(`${api.url}/files/fake_id`, { method: "DELETE" });
    expect(await answer.json()).toEqual({
      error: {
        message: "No such File object: fake_id",
        type: "invalid_request_error",
        param: "id",
        code: null,
      },
      detail: { message: "No such File object: fake_id", code: null },
    });
  });

  const file = () => new File(["x"], "x.txt");
  it.each([
    [
      { file: file(), purpose: "world_domination" },
      "'world_domination' is not one of ['fine-tune', 'assistants', 'batch', 'user_data', 'vision', 'evals'] - 'purpose'",
      "purpose",
    ],
    [{ file: file() }, "Missing required parameter: 'purpose'.", "purpose"],
    [{ purpose: "vision" }, "Missing required parameter: 'file'.", "file"],
    [
      { purpose: "vision", file: "text" },
      "Invalid type for 'file': expected a file, but got a string instead.",
      "file",
    ],
    [{ purpose: "vision", file: file(), color: "red" }, "Unknown parameter: 'color'.", "color"],
    [{ purpose: "vision", other: file() }, "Unknown parameter: 'other'.", "other"],
    [
      { purpose: "vision", file: file(), "expires_after[seconds]": "3600" },
      "Missing required parameter: 'expires_after[anchor]'.",
      "expires_after[anchor]",
    ],
    [
      { purpose: "vision", file: file(), "expires_after[anchor]": "created_at" },
      "Missing required parameter: 'expires_after[seconds]'.",
      "expires_after[seconds]",
    ],
    [
      {
        purpose: "vision",
        file: file(),
        "expires_after[anchor]": "now",
        "expires_after[seconds]": "3600",
      },
      "'now' is not one of ['created_at'] - 'expires_after.anchor'",
      "expires_after.anchor",
    ],
    [
      {
        purpose: "vision",
        file: file(),
        "expires_after[anchor]": "created_at",
        "expires_after[seconds]": "1",
      },
      "Invalid 'expires_after[seconds]': integer below minimum value. Expected a value >= 3600, but got 1 instead.",
      "expires_after[seconds]",
    ],
  ])("the form %o", async (fields, message, param) => {
    await using api = await startLocalStorage();
    const body = createForm(fields as Record<string, string | File>);
    const answer = await readError(fetch(`${api.url}/files`, { method: "POST", body }));
    expect(answer).toMatchObject({ status: 400, message, param });
    expect(readdirSync(join(api.dataDir, "incoming"))).toEqual([]);
    expect(readdirSync(join(api.dataDir, "files"))).toEqual([]);
  });

  it("a body that is not a form", async () => {
    await using api = await startLocalStorage();
    const answer = await readError(fetch(`${api.url}/files`, { method: "POST", body: "{}" }));
    expect(answer).toMatchObject({
      status: 400,
      message:
        "Invalid Content-Type header (text/plain;charset=UTF-8), expected multipart/form-data.",
    });
  });
});
