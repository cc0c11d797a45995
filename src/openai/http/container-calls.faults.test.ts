import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clientFactories, testKey } from "../../../tests/support/openai-clients.ts";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { ContainerCalls } from "./container-calls.ts";

const file = { id: "cfile_1", path: "/mnt/data/x-a.txt", bytes: 1, created_at: 1, source: "user" };
const small = new File(["x"], "a.txt");

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Every call with its request. */
const everyCall: readonly (readonly [string, (calls: ContainerCalls) => Promise<unknown>])[] = [
  ["POST /containers", (calls) => calls.create({ name: "a" })],
  ["GET /containers/c", (calls) => calls.getStatus("c")],
  ["DELETE /containers/c", (calls) => calls.remove("c")],
  ["POST /containers/c/files", (calls) => calls.upload("c", small)],
  ["GET /containers/c/files", (calls) => collect(calls.list("c"))],
  ["DELETE /containers/c/files/f", (calls) => calls.removeFile("c", "f")],
  ["GET /containers/c/files/f/content", (calls) => calls.download("c", "f")],
  [
    "GET /containers/c/files/f/content",
    (calls) => calls.downloadTo("c", "f", join(temporaryTree(), "f")),
  ],
];

describe.each(clientFactories)("ContainerCalls faults over %s", (_name, make) => {
  /** Starts a server that responds with these bodies in order. */
  const startServer = async (...bodies: readonly unknown[]) => {
    const left = [...bodies];
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, left.shift() ?? ""),
    );
    return { calls: new ContainerCalls(make(server.url)), server };
  };

  test.each(everyCall)(
    "%s is sent once for any status, and its error names the request",
    async (request, call) => {
      for (const status of [429, 500, 408]) {
        const server = await startRawServer((_, response) =>
          sendResponse(response, status, { error: { message: `Not now, ${testKey}` } }),
        );
        await expect(call(new ContainerCalls(make(server.url)))).rejects.toMatchObject({
          name: "OpenAIRequestError",
          status,
          message: `${request} failed with status ${status}: Not now, <redacted>`,
        });
        expect(server.requests).toHaveLength(1);
      }
    },
  );

  test.each(everyCall.slice(1))("%s is not sent with an invalid id", async (_, call) => {
    const { calls, server } = await startServer({});
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
      "a numeric id",
      { id: 7 },
      (calls) => calls.create({ name: "a" }),
      "a container without an id",
    ],
    ["no status", { id: "c" }, (calls) => calls.getStatus("c"), "a container without a status"],
    ["a list", [], (calls) => calls.getStatus("c"), "an array instead of an object"],
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
    ["no data", { object: "list" }, (calls) => collect(calls.list("c")), "a list without data"],
    [
      "data that is not an array",
      { data: {} },
      (calls) => collect(calls.list("c")),
      "a list without data",
    ],
    [
      "no file",
      { data: [null] },
      (calls) => collect(calls.list("c")),
      "a file without an id, a path or a length",
    ],
    ["a string", '"x"', (calls) => collect(calls.list("c")), "instead of an object"],
    ["a refusal", { deleted: false }, (calls) => calls.remove("c"), "deleted: false"],
    ["a refusal", { deleted: false }, (calls) => calls.removeFile("c", "f"), "deleted: false"],
  ])("a response with %s is an error: %j", async (_, body, call, problem) => {
    const { calls } = await startServer(body);
    await expect(call(calls)).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "body",
      message: expect.stringContaining(problem),
    });
  });

  test.each(everyCall.slice(0, 6))("%s rejects a proxy's HTML page", async (_, call) => {
    const server = await startRawServer((_request, response) =>
      sendResponse(response, 200, "<!doctype html><p>Please log in", {
        "content-type": "text/html",
      }),
    );
    await expect(call(new ContainerCalls(make(server.url)))).rejects.toMatchObject({
      name: "OpenAIRequestError",
      message: expect.stringContaining("an HTML page. Check baseURL, and whether a proxy answered"),
    });
  });

  test.each([
    ["repeats a page", [["a"], ["a"]]],
    ["repeats an earlier page", [["a"], ["b"], ["a"]]],
    ["has an empty page that is not the last", [["a"], []]],
  ])("a list that %s throws an error", async (_, pages) => {
    const bodies = pages.map((ids) => ({
      data: ids.map((id) => ({ ...file, id })),
      has_more: true,
    }));
    const { calls, server } = await startServer(...bodies);
    await expect(collect(calls.list("c"))).rejects.toThrow("the same page of a list again");
    expect(server.requests).toHaveLength(pages.length);
  });

  test("a list stops fetching pages when its reader stops", async () => {
    const { calls, server } = await startServer({ data: [file], has_more: true });
    for await (const { id } of calls.list("c")) {
      expect(id).toBe("cfile_1");
      break;
    }
    expect(server.requests).toHaveLength(1);
  });

  test("a deletion accepts an empty response", async () => {
    const server = await startRawServer((_, response) => response.writeHead(204).end());
    const calls = new ContainerCalls(make(server.url));
    expect(await calls.remove("c")).toBeUndefined();
    expect(await calls.removeFile("c", "f")).toBeUndefined();
  });

  test.each<[string, number, unknown, boolean, boolean]>([
    ["the container is unknown", 404, "Container with id 'c' not found.", true, false],
    ["the container has expired", 400, "Container is expired.", true, false],
    ["the file is unknown", 404, "Container file with id 'f' not found.", true, true],
    ["the address is wrong", 404, "Invalid URL (DELETE /containers/c)", false, false],
    ["the reason is missing", 404, null, false, false],
    ["the error is unrelated", 400, "Invalid container.", false, false],
    ["its code process is dead", 400, "There was an issue with your request.", false, false],
  ])("a deletion throws or succeeds if %s", async (_, status, message, removes, removesFile) => {
    const body = message === null ? "404 page not found" : { error: { message } };
    const server = await startRawServer((_request, response) =>
      sendResponse(response, status, body),
    );
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

  test("an error does not contain domain secrets", async () => {
    const value = "hunter2-hunter2";
    const server = await startRawServer(({ body }, response) =>
      sendResponse(response, 400, { error: { message: `No: ${body.toString()}` } }),
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

  test("an interrupted download leaves no partial file", async () => {
    const server = await startRawServer((_, response) => {
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

  test("an aborted download leaves no partial file and no connection", async () => {
    const controller = new AbortController();
    let isOpen = true;
    const server = await startRawServer((_, response) => {
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

  test("an endless download stops at maxBytes", async () => {
    let isOpen = true;
    const server = await startRawServer((_, response) => {
      const write = () => {
        while (isOpen && response.write(Buffer.alloc(65_536)));
        if (isOpen) response.once("drain", write);
      };
      response.on("close", () => {
        isOpen = false;
      });
      write();
    });
    const calls = new ContainerCalls(make(server.url));
    await expect(calls.download("c", "f", { maxBytes: 1_000_000 })).rejects.toThrow(
      "returned more than 1000000 bytes",
    );
    await expect.poll(() => isOpen).toBe(false);
  });
});
