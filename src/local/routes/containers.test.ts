import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BadRequestError, NotFoundError, toFile } from "openai";
import { describe, expect, it } from "vitest";
import { START, startLocalStorage } from "../../../tests/support/local-storage.ts";

type Api = Awaited<ReturnType<typeof startLocalStorage>>;

const createFile = (content: string, name: string) => toFile(Buffer.from(content), name);

async function sendPost({ url }: Api, path: string, body: unknown) {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
  const answer = await fetch(`${url}${path}`, init);
  const { error } = (await answer.json()) as { readonly error?: object };
  return { status: answer.status, ...error };
}

describe("the containers API with the official client", () => {
  it("creates, retrieves, lists and deletes a container", async () => {
    await using api = await startLocalStorage();
    const { containers } = api.client;
    const container = await containers.create({ name: "mine", memory_limit: "4g" });

    expect(container).toEqual({
      id: expect.stringMatching(/^cntr_\w+$/),
      object: "container",
      created_at: START / 1000,
      status: "running",
      name: "mine",
      last_active_at: START / 1000,
      expires_after: { anchor: "last_active_at", minutes: 20 },
      memory_limit: "4g",
    });
    expect(await containers.retrieve(container.id)).toEqual(container);
    expect((await containers.list()).data).toEqual([container]);
    const answer = await fetch(`${api.url}/containers/${container.id}`, { method: "DELETE" });
    expect(await answer.json()).toEqual({
      id: container.id,
      object: "container.deleted",
      deleted: true,
    });
    await expect(containers.retrieve(container.id)).rejects.toThrow(NotFoundError);
    expect((await containers.list()).data).toEqual([]);
    expect(readdirSync(join(api.dataDir, "containers"))).toEqual([]);
  });

  it("lists by page and by name, even while the client deletes", async () => {
    await using api = await startLocalStorage();
    const { containers } = api.client;
    for (const name of ["a", "b", "a", "a"]) await containers.create({ name });
    const page = await containers.list({ limit: 3 });
    expect([page.data.length, page.has_more]).toEqual([3, true]);
    let seen = 0;
    for await (const { id, name } of containers.list({ limit: 1, order: "asc", name: "a" })) {
      expect(name).toBe("a");
      await containers.delete(id);
      seen++;
    }
    expect(seen).toBe(3);
    expect((await containers.list()).data.map(({ name }) => name)).toEqual(["b"]);
  });

  it("uploads, retrieves, downloads and deletes a file", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.containers.create({ name: "mine" });
    const { files } = api.client.containers;
    expect(await files.list(id)).toMatchObject({ data: [], has_more: false });
    const file = await files.create(id, { file: await createFile("hello", "../a b.txt") });

    expect(file).toEqual({
      id: expect.stringMatching(/^cfile_\w+$/),
      object: "container.file",
      container_id: id,
      created_at: START / 1000,
      bytes: 5,
      path: expect.stringMatching(/^\/mnt\/data\/[0-9a-f]{32}-a b\.txt$/),
      source: "user",
    });
    expect(await files.retrieve(file.id, { container_id: id })).toEqual(file);
    expect((await files.list(id)).data).toEqual([file]);
    const content = await files.content.retrieve(file.id, { container_id: id });
    expect(await content.text()).toBe("hello");
    expect(content.headers.get("content-disposition")).toContain("attachment; ");
    const url = `${api.url}/containers/${id}/files/${file.id}`;
    expect(await (await fetch(url, { method: "DELETE" })).json()).toEqual({
      id: file.id,
      object: "container.file.deleted",
      deleted: true,
    });
    await expect(files.retrieve(file.id, { container_id: id })).rejects.toThrow(
      `404 Container file with id '${file.id}' not found.`,
    );
    expect(readdirSync(join(api.dataDir, "containers", id, "data"))).toEqual([]);
  });

  it("copies uploaded files on creation and later, by JSON and by form", async () => {
    await using api = await startLocalStorage();
    const one = await api.client.files.create({
      file: await createFile("1", "one.txt"),
      purpose: "user_data",
    });
    const two = await api.client.files.create({
      file: await createFile("22", "two.txt"),
      purpose: "user_data",
    });
    const { id } = await api.client.containers.create({ name: "mine", file_ids: [one.id, one.id] });
    const { files } = api.client.containers;
    const added = await files.create(id, { file_id: two.id });
    expect(added.path).toBe(`/mnt/data/${two.id}-two.txt`);
    expect(await sendPost(api, `/containers/${id}/files`, { file_id: two.id })).toEqual({
      status: 200,
    });
    const list = (await files.list(id, { order: "asc" })).data;
    expect(list.map(({ path, source, bytes }) => [path, source, bytes])).toEqual([
      [`/mnt/data/${one.id}-one.txt`, "user", 1],
      [`/mnt/data/${two.id}-two.txt`, "user", 2],
    ]);
    await api.client.files.delete(one.id);
    const [copy] = list;
    const content = await files.content.retrieve(copy?.id ?? "", { container_id: id });
    expect(await content.text()).toBe("1");
  });

  it("stores two uploads with the same name as two files", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.containers.create({ name: "mine" });
    const { files } = api.client.containers;
    for (const content of ["1", "2"])
      await files.create(id, { file: await createFile(content, "x.txt") });
    expect((await files.list(id)).data).toHaveLength(2);
  });
});

describe("the containers API rejects", () => {
  const invalid = { type: "invalid_request_error" };
  it.each([
    [{}, "Missing required parameter: 'name'.", "missing_required_parameter"],
    [
      { name: 1 },
      "Invalid type for 'name': expected a string, but got an integer instead.",
      "invalid_type",
    ],
    [
      { name: "" },
      "Invalid 'name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      "empty_string",
    ],
    [[], "Invalid type for 'body': expected an object, but got an array instead.", "invalid_type"],
    [{ name: "a", host_mounts: [] }, "Unknown parameter: 'host_mounts'.", "unknown_parameter"],
    [
      { name: "a", memory_limit: "8g" },
      "Invalid value: '8g'. Supported values are: '1g', '4g', '16g', and '64g'.",
      "invalid_value",
    ],
    [
      { name: "a", file_ids: "file-1" },
      "Invalid type for 'file_ids': expected an array of strings, but got a string instead.",
      "invalid_type",
    ],
    [
      { name: "a", file_ids: [1] },
      "Invalid type for 'file_ids[0]': expected a string, but got an integer instead.",
      "invalid_type",
    ],
    [
      { name: "a", expires_after: { minutes: 20 } },
      "Missing required parameter: 'expires_after.anchor'.",
      "missing_required_parameter",
    ],
    [
      { name: "a", expires_after: { anchor: "now", minutes: 20 } },
      "Invalid value: 'now'. Supported values are: 'last_active_at'.",
      "invalid_value",
    ],
    [
      { name: "a", expires_after: { anchor: "last_active_at" } },
      "Missing required parameter: 'expires_after.minutes'.",
      "missing_required_parameter",
    ],
    [
      { name: "a", expires_after: { anchor: "last_active_at", minutes: "20" } },
      "Invalid type for 'expires_after.minutes': expected an integer, but got a string instead.",
      "invalid_type",
    ],
    [
      { name: "a", expires_after: { anchor: "last_active_at", minutes: 21 } },
      "Invalid 'expires_after.minutes': integer above maximum value. Expected a value <= 20, but got 21 instead.",
      "integer_above_max_value",
    ],
    [
      { name: "a", expires_after: { seconds: 1 } },
      "Unknown parameter: 'expires_after.seconds'.",
      "unknown_parameter",
    ],
    [
      { name: "a", network_policy: {} },
      "Missing required parameter: 'network_policy.type'.",
      "missing_required_parameter",
    ],
    [
      { name: "a", network_policy: { type: "open" } },
      "Invalid value: 'open'. Supported values are: 'disabled' and 'allowlist'.",
      "invalid_value",
    ],
    [
      { name: "a", network_policy: { type: "disabled", allowed_domains: [] } },
      "Unknown parameter: 'network_policy.allowed_domains'.",
      "unknown_parameter",
    ],
    [
      { name: "a", network_policy: { type: "allowlist", allowed_domains: ["a.com"] } },
      "Containers of the local provider have no network: 'network_policy.type' must be 'disabled'.",
      "invalid_value",
    ],
    [
      { name: "a", skills: [] },
      "Unsupported parameter: 'skills' is not supported by the local provider.",
      "unsupported_parameter",
    ],
  ])("the creation of %j", async (body, message, code) => {
    await using api = await startLocalStorage();
    const answer = await sendPost(api, "/containers", body);
    expect(answer).toMatchObject({ ...invalid, status: 400, message, code });
    expect(api.containers.list({ limit: 1, order: "asc" }).data).toEqual([]);
  });

  it("no option that the API accepts", async () => {
    await using api = await startLocalStorage();
    const container = await api.client.containers.create({
      name: "all",
      file_ids: [],
      memory_limit: "64g",
      expires_after: { anchor: "last_active_at", minutes: 1 },
      network_policy: { type: "disabled" },
    });
    expect(container).toMatchObject({
      memory_limit: "64g",
      expires_after: { minutes: 1 },
      network_policy: { type: "disabled" },
    });
    const nulls = { name: "a", memory_limit: null, network_policy: null };
    expect(await sendPost(api, "/containers", nulls)).toEqual({ status: 200 });
  });

  it("unknown files, without creating a container", async () => {
    await using api = await startLocalStorage();
    const body = { name: "a", file_ids: ["file-none"] };
    expect(await sendPost(api, "/containers", body)).toMatchObject({
      status: 404,
      message: "No such File object: file-none",
      param: "file_ids",
    });
    expect(readdirSync(join(api.dataDir, "containers"))).toEqual([]);
    const { id } = await api.client.containers.create({ name: "a" });
    expect(await sendPost(api, `/containers/${id}/files`, { file_id: "file-none" })).toMatchObject({
      status: 404,
      param: "file_id",
    });
  });

  it.each([
    [{}, "Missing required parameter: 'file_id'."],
    [{ file_id: 1 }, "Invalid type for 'file_id': expected a string, but got an integer instead."],
    [{ path: "/x" }, "Unknown parameter: 'path'."],
    ["{", "We could not parse the JSON body of your request: "],
  ])("a file added by %j", async (body, message) => {
    await using api = await startLocalStorage();
    const { id } = await api.client.containers.create({ name: "a" });
    const answer = await sendPost(api, `/containers/${id}/files`, body);
    expect(answer).toMatchObject({ status: 400, message: expect.stringContaining(message) });
  });

  it("an empty form, and a form with extra fields", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.containers.create({ name: "a" });
    const url = `${api.url}/containers/${id}/files`;
    const send = async (fields: Record<string, string | File>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      return await (await fetch(url, { method: "POST", body })).json();
    };
    const file = new File(["x"], "x.txt");
    const missing = { message: "Missing required parameter: 'file'." };
    expect(await send({})).toMatchObject({ error: missing });
    const none = { message: "No such File object: file-none" };
    expect(await send({ file_id: "file-none" })).toMatchObject({ error: none });
    expect((await fetch(url, { method: "POST" })).status).toBe(400);
    const unknown = { message: "Unknown parameter: 'path'." };
    expect(await send({ file, path: "/x" })).toMatchObject({ error: unknown });
    expect(readdirSync(join(api.dataDir, "incoming"))).toEqual([]);
  });

  it("unknown containers on every route", async () => {
    await using api = await startLocalStorage();
    const message = "404 Container with id 'cntr_none' not found.";
    const { containers } = api.client;
    const file = await createFile("x", "x");
    await expect(containers.retrieve("cntr_none")).rejects.toThrow(message);
    await expect(containers.delete("cntr_none")).rejects.toThrow(message);
    await expect(containers.files.list("cntr_none")).rejects.toThrow(message);
    await expect(containers.files.create("cntr_none", { file })).rejects.toThrow(message);
    const scope = { container_id: "cntr_none" };
    await expect(containers.files.retrieve("cfile_1", scope)).rejects.toThrow(message);
    await expect(containers.files.content.retrieve("cfile_1", scope)).rejects.toThrow(message);
    await expect(containers.files.delete("cfile_1", scope)).rejects.toThrow(message);
    const outside = await fetch(`${api.url}/containers/..%2f..%2fx/files`);
    expect(outside.status).toBe(404);
  });

  it("another container's files", async () => {
    await using api = await startLocalStorage();
    const { containers } = api.client;
    const [mine, other] = [
      await containers.create({ name: "a" }),
      await containers.create({ name: "b" }),
    ];
    const file = await containers.files.create(mine.id, {
      file: await createFile("secret", "s.txt"),
    });
    const scope = { container_id: other.id };
    expect((await containers.files.list(other.id)).data).toEqual([]);
    await expect(containers.files.retrieve(file.id, scope)).rejects.toThrow(NotFoundError);
    await expect(containers.files.content.retrieve(file.id, scope)).rejects.toThrow(NotFoundError);
    await expect(containers.files.delete(file.id, scope)).rejects.toThrow(NotFoundError);
    expect(existsSync(join(api.dataDir, "containers", mine.id, "data"))).toBe(true);
  });

  it("an expired container", async () => {
    await using api = await startLocalStorage();
    const { containers } = api.client;
    const { id } = await containers.create({ name: "a" });
    const file = await containers.files.create(id, { file: await createFile("x", "x") });
    await api.clock.advance(20 * 60_000);
    const scope = { container_id: id };
    const added = containers.files.create(id, { file: await createFile("x", "x") });
    await expect(added).rejects.toThrow(BadRequestError);
    await expect(containers.files.list(id)).rejects.toMatchObject({
      status: 400,
      error: {
        message: "Container is expired.",
        type: "invalid_request_error",
        param: null,
        code: null,
      },
    });
    const content = containers.files.content.retrieve(file.id, scope);
    await expect(content).rejects.toThrow("400 Container is expired.");
    expect((await containers.retrieve(id)).status).toBe("expired");
    await containers.delete(id);
    await expect(containers.retrieve(id)).rejects.toThrow(NotFoundError);
  });
});
