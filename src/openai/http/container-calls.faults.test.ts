import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { madeClients, testKey } from "../../../tests/support/openai-clients.ts";
import { answer, rawServer } from "../../../tests/support/raw-server.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { ContainerCalls } from "./container-calls.ts";

const file = { id: "cfile_1", path: "/mnt/data/x-a.txt", bytes: 1, created_at: 1, source: "user" };
const small = new File(["x"], "a.txt");

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Every call, by what it asks for. */
const everyCall: readonly (readonly [string, (calls: ContainerCalls) => Promise<unknown>])[] = [
  ["POST /containers", (calls) => calls.create({ name: "a" })],
  ["GET /containers/c", (calls) => calls.status("c")],
  ["DELETE /containers/c", (calls) => calls.remove("c")],
  ["POST /containers/c/files", (calls) => calls.upload("c", small)],
  ["GET /containers/c/files", (calls) => all(calls.list("c"))],
  ["DELETE /containers/c/files/f", (calls) => calls.removeFile("c", "f")],
  ["GET /containers/c/files/f/content", (calls) => calls.download("c", "f")],
  [
    "GET /containers/c/files/f/content",
    (calls) => calls.downloadTo("c", "f", join(temporaryTree(), "f")),
  ],
];

describe.each(madeClients)("over %s", (_name, make) => {
  /** Calls of a server that answers with these bodies, one after the other. */
  const answering = async (...bodies: readonly unknown[]) => {
    const left = [...bodies];
    const server = await rawServer((_, response) => answer(response, 200, left.shift() ?? ""));
    return { calls: new ContainerCalls(make(server.url)), server };
  };

  test.each(everyCall)(
    "%s is one request, whatever the answer, and its error says so",
    async (request, call) => {
      for (const status of [429, 500, 408]) {
        const server = await rawServer((_, response) =>
          answer(response, status, { error: { message: `Not now, ${testKey}` } }),
        );
        await expect(call(new ContainerCalls(make(server.url)))).rejects.toMatchObject({
          name: "OpenAIRequestError",
          status,
          message: `${request} was answered with status ${status}: Not now, <redacted>`,
        });
        expect(server.requests).toHaveLength(1);
      }
    },
  );

  test.each(everyCall.slice(1))("%s is not sent with ids that are none", async (_, call) => {
    const { calls, server } = await answering({});
    const hostile = new Proxy(calls, {
      get:
        (target, method: keyof ContainerCalls) =>
        (_id: string, ...rest: readonly unknown[]) =>
          Reflect.apply(target[method], target, ["../x", ...rest]),
    });
    await expect(call(hostile)).rejects.toThrow(/^containerId must be an id/);
    expect(server.requests).toEqual([]);
  });

  test.each<[string, unknown, (calls: ContainerCalls) => Promise<unknown>, string]>([
    [
      "no id",
      { object: "container" },
      (calls) => calls.create({ name: "a" }),
      "a container without an id",
    ],
    [
      "a number for an id",
      { id: 7 },
      (calls) => calls.create({ name: "a" }),
      "a container without an id",
    ],
    ["no status", { id: "c" }, (calls) => calls.status("c"), "a container without a status"],
    ["a list", [], (calls) => calls.status("c"), "a list where an object was expected"],
    [
      "no path",
      { ...file, path: "" },
      (calls) => calls.upload("c", small),
      "a file without an id, a path or a length",
    ],
    [
      "no length",
      { ...file, bytes: null },
      (calls) => calls.upload("c", small),
      "a file without an id, a path or a length",
    ],
    [
      "another length",
      { ...file, bytes: 9 },
      (calls) => calls.upload("c", small),
      "a file of 9 bytes where 1 were sent",
    ],
    ["no data", { object: "list" }, (calls) => all(calls.list("c")), "a list without data"],
    ["data that is none", { data: {} }, (calls) => all(calls.list("c")), "a list without data"],
    [
      "no file",
      { data: [null] },
      (calls) => all(calls.list("c")),
      "a file without an id, a path or a length",
    ],
    ["a text for a list", '"x"', (calls) => all(calls.list("c")), "where an object was expected"],
    [
      "a refusal",
      { deleted: false },
      (calls) => calls.remove("c"),
      "what says that it was not deleted",
    ],
    [
      "a refusal",
      { deleted: false },
      (calls) => calls.removeFile("c", "f"),
      "what says that it was not deleted",
    ],
  ])("an answer with %s is an error: %j", async (_, body, call, problem) => {
    const { calls } = await answering(body);
    await expect(call(calls)).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "body",
      message: expect.stringContaining(problem),
    });
  });

  test.each(everyCall.slice(0, 6))("%s takes a proxy's page for none of ours", async (_, call) => {
    const server = await rawServer((_request, response) =>
      answer(response, 200, "<!doctype html><p>Please log in", { "content-type": "text/html" }),
    );
    await expect(call(new ContainerCalls(make(server.url)))).rejects.toMatchObject({
      name: "OpenAIRequestError",
      message: expect.stringContaining("text/html: is there a proxy in between"),
    });
  });

  test.each([
    ["stands still", [["a"], ["a"]]],
    ["goes in a circle", [["a"], ["b"], ["a"]]],
    ["is empty and not the last", [["a"], []]],
  ])("a list that %s ends with an error", async (_, pages) => {
    const bodies = pages.map((ids) => ({
      data: ids.map((id) => ({ ...file, id })),
      has_more: true,
    }));
    const { calls, server } = await answering(...bodies);
    await expect(all(calls.list("c"))).rejects.toThrow("a page of a list that does not move on");
    expect(server.requests).toHaveLength(pages.length);
  });

  test("a list whose reader stops asks for no more pages", async () => {
    const { calls, server } = await answering({ data: [file], has_more: true });
    for await (const { id } of calls.list("c")) {
      expect(id).toBe("cfile_1");
      break;
    }
    expect(server.requests).toHaveLength(1);
  });

  test("what was deleted may be answered with nothing at all", async () => {
    const server = await rawServer((_, response) => response.writeHead(204).end());
    const calls = new ContainerCalls(make(server.url));
    expect(await calls.remove("c")).toBeUndefined();
    expect(await calls.removeFile("c", "f")).toBeUndefined();
  });

  test.each<[string, number, unknown, boolean, boolean]>([
    ["the container is unknown", 404, "Container with id 'c' not found.", true, false],
    ["the container has expired", 400, "Container is expired.", true, false],
    ["the file is unknown", 404, "Container file with id 'f' not found.", true, true],
    ["the address is wrong", 404, "Invalid URL (DELETE /containers/c)", false, false],
    ["nobody says why", 404, null, false, false],
    ["something else is wrong", 400, "Invalid container.", false, false],
    ["its code no longer runs", 400, "There was an issue with your request.", false, false],
  ])("where %s a deletion fails or is done", async (_, status, message, removes, removesFile) => {
    const body = message === null ? "404 page not found" : { error: { message } };
    const server = await rawServer((_request, response) => answer(response, status, body));
    const calls = new ContainerCalls(make(server.url));
    const isDone = async (work: Promise<void>) =>
      await work.then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ name: "OpenAIRequestError", status });
          return false;
        },
      );
    expect([await isDone(calls.remove("c")), await isDone(calls.removeFile("c", "f"))]).toEqual([
      removes,
      removesFile,
    ]);
  });

  test("what a container may sign in with is not in an error", async () => {
    const value = "hunter2-hunter2";
    const server = await rawServer(({ body }, response) =>
      answer(response, 400, { error: { message: `No: ${body.toString()}` } }),
    );
    const asked = new ContainerCalls(make(server.url)).create({
      name: "a",
      network_policy: {
        type: "allowlist",
        allowed_domains: ["a.example"],
        domain_secrets: [{ domain: "a.example", name: "TOKEN", value }],
      },
    });
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).toContain("<redacted>");
    expect(String(error) + JSON.stringify(error)).not.toContain(value);
    expect(server.requests[0]?.body.toString()).toContain(value);
  });

  test("a download that is cut off leaves no half file", async () => {
    const server = await rawServer((_, response) => {
      response.writeHead(200, { "content-length": "1000000" }).write(Buffer.alloc(300_000));
      setTimeout(() => response.destroy(), 50);
    });
    const path = join(temporaryTree(), "a.bin");
    const calls = new ContainerCalls(make(server.url));
    await expect(calls.downloadTo("c", "f", path)).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
    });
    expect(existsSync(path)).toBe(false);
  });

  test("a download that is aborted leaves no half file and no connection", async () => {
    const controller = new AbortController();
    let isOpen = true;
    const server = await rawServer((_, response) => {
      response.on("close", () => {
        isOpen = false;
      });
      response.write(Buffer.alloc(300_000));
      setTimeout(() => controller.abort("enough"), 50);
    });
    const path = join(temporaryTree(), "a.bin");
    const { signal } = controller;
    const calls = new ContainerCalls(make(server.url));
    await expect(calls.downloadTo("c", "f", path, { signal })).rejects.toBe("enough");
    expect(existsSync(path)).toBe(false);
    await expect.poll(() => isOpen).toBe(false);
  });

  test("a download that does not end is cut at what it may be", async () => {
    let isOpen = true;
    const server = await rawServer((_, response) => {
      const pour = () => {
        while (isOpen && response.write(Buffer.alloc(65_536)));
        if (isOpen) response.once("drain", pour);
      };
      response.on("close", () => {
        isOpen = false;
      });
      pour();
    });
    const calls = new ContainerCalls(make(server.url));
    await expect(calls.download("c", "f", { maxBytes: 1_000_000 })).rejects.toThrow(
      "was answered with more than 1000000 bytes",
    );
    await expect.poll(() => isOpen).toBe(false);
  });
});
