import { openAsBlob, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { clientFactories, testKey } from "../../../tests/support/openai-clients.ts";
import {
  type RawRequest,
  sendResponse,
  startRawServer,
} from "../../../tests/support/raw-server.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { toRequestError } from "../errors/request-error.ts";
import { HttpClient } from "./http-client.ts";

const ways = [
  ["node", {}],
  ["fetch", { fetch }],
] as const;

async function parseFiles(request: RawRequest | undefined): Promise<readonly File[]> {
  const headers = { "content-type": request?.headers["content-type"] ?? "" };
  const form = await new Response(new Uint8Array(request?.body ?? []), { headers }).formData();
  expect([...new Set(form.keys())]).toEqual(["file"]);
  return form.getAll("file").filter((value) => value instanceof File);
}

/** Creates a host file that is read when it is sent. */
async function createLargeFile(
  bytes: number,
): Promise<{ readonly path: string; readonly file: File }> {
  const path = join(temporaryTree({ "large.tar": "" }), "large.tar");
  writeFileSync(path, Buffer.alloc(bytes, "0123456789abcdef"));
  return { path, file: new File([await openAsBlob(path)], "large.tar") };
}

/** Starts a TCP server without HTTP; `hear` controls how fast it reads. */
async function startSlowServer(
  hear: (bytes: number, socket: import("node:net").Socket) => void,
): Promise<{ readonly url: string; readonly open: number }> {
  let open = 0;
  const server = createServer((socket) => {
    open++;
    socket.on("close", () => open--).on("error", () => {});
    socket.on("data", ({ length }) => hear(length, socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    get open() {
      return open;
    },
  };
}

describe.each(clientFactories)("%s uploads", (_name, make) => {
  test.each([
    "a.txt",
    "Daten é 🙂.csv",
    'a"; filename="b.exe',
    "a\r\nX-Evil: 1\r\n\r\nb",
    "../../x",
  ])("one file with the name %j", async (name) => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "cfile_1" }),
    );
    const file = new File(["hello"], name);
    await make(server.url).containers.files.create("cntr_1", { file });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/containers/cntr_1/files" });
    expect(request?.headers.authorization).toBe(`Bearer ${testKey}`);
    const [sent, ...others] = await parseFiles(request);
    expect(others).toEqual([]);
    expect(await sent?.text()).toBe("hello");
    expect(request?.headers["x-evil"]).toBeUndefined();
    expect(request?.body.toString()).not.toContain("\nX-Evil: 1");
  });

  test("a large file unchanged, twice", async () => {
    const { path, file } = await createLargeFile(3_000_017);
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "cfile_1" }),
    );
    const client = make(server.url);
    await client.containers.files.create("cntr_1", { file });
    await client.containers.files.create("cntr_1", { file });
    for (const request of server.requests) {
      const [sent] = await parseFiles(request);
      const bytes = Buffer.from((await sent?.arrayBuffer()) ?? new ArrayBuffer());
      expect(bytes.equals(Buffer.from(await (await openAsBlob(path)).arrayBuffer()))).toBe(true);
    }
    expect(server.requests).toHaveLength(2);
  });
});

describe.each(ways)("an upload over %s", (way, transport) => {
  const createClient = (baseURL: string, timeoutMs = 5_000) =>
    new HttpClient({ ...transport, baseURL, apiKey: testKey, timeoutMs });

  test("sends its content-length", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "cfile_1" }),
    );
    const { file } = await createLargeFile(200_000);
    await createClient(server.url).containers.files.create("c", { file });
    const [request] = server.requests;
    expect(request?.headers["content-length"]).toBe(String(request?.body.length));
    expect(request?.headers["transfer-encoding"]).toBeUndefined();
  });

  test("throws if the file changed before it was read", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "cfile_1" }),
    );
    const { path, file } = await createLargeFile(1_000_000);
    truncateSync(path, 10);
    await expect(
      createClient(server.url).containers.files.create("c", { file }),
    ).rejects.toMatchObject({
      name: "OpenAIRequestError",
      message: expect.stringContaining("could not be read"),
    });
    expect(server.requests).toEqual([]);
  });

  test("closes its connection when aborted", async () => {
    const controller = new AbortController();
    const server = await startSlowServer((_, socket) => {
      socket.pause();
      setTimeout(() => socket.resume(), 50); // otherwise it would not notice the end
      controller.abort("enough");
    });
    const { file } = await createLargeFile(20_000_000);
    const { signal } = controller;
    const sent = createClient(server.url).containers.files.create("c", { file }, { signal });
    await expect(sent).rejects.toBe("enough");
    await expect.poll(() => server.open).toBe(0);
  });

  test("may take longer than the timeout while data is sent", async () => {
    let heard = 0;
    const server = await startSlowServer((length, socket) => {
      heard += length;
      if (heard > 24_000_000) {
        const body = '{"id":"cfile_1"}';
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        return;
      }
      socket.pause();
      setTimeout(() => socket.resume(), 4);
    });
    const { file } = await createLargeFile(24_000_000);
    const start = performance.now();
    const sent = await createClient(server.url, 1_000).containers.files.create("c", { file });
    expect(sent).toEqual({ id: "cfile_1" });
    expect(performance.now() - start).toBeGreaterThan(1_100);
  });

  test("times out if the server does not read", async () => {
    const server = await startSlowServer((_, socket) => socket.pause());
    const { file } = await createLargeFile(20_000_000);
    const sent = createClient(server.url, 100).containers.files.create("c", { file });
    await expect(sent).rejects.toMatchObject({ name: "OpenAIRequestError", reason: "timeout" });
  });

  test("is not resent after a redirect", async () => {
    const server = await startRawServer((_, response) =>
      response.writeHead(307, { location: "https://other.example/" }).end(),
    );
    const file = new File(["x"], "a.txt");
    const failed = createClient(server.url).containers.files.create("c", { file });
    await expect(failed).rejects.toThrow(
      way === "node"
        ? "It redirects to https://other.example/. Set baseURL to the API's address"
        : "POST /containers/c/files failed: unexpected redirect. Check baseURL and the network.",
    );
    expect(server.requests).toHaveLength(1);
  });

  test("does not free memory that a custom file still uses", async () => {
    const kept = new TextEncoder().encode("hello");
    class Lazy extends File {
      override stream() {
        return new ReadableStream<Uint8Array<ArrayBuffer>>({
          start(controller) {
            controller.enqueue(kept);
            controller.close();
          },
        });
      }
    }
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "cfile_1" }),
    );
    await createClient(server.url).containers.files.create("c", { file: new Lazy(["....."], "x") });
    const [sent] = await parseFiles(server.requests[0]);
    expect(await sent?.text()).toBe("hello");
    expect(new TextDecoder().decode(kept)).toBe("hello");
  });
});

describe("an upload with a custom fetch", () => {
  test("receives a FormData", async () => {
    const bodies: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      bodies.push(init?.body);
      return Response.json({ id: "cfile_1" });
    };
    const file = new File(["x"], "a.txt");
    await new HttpClient({ fetch }).containers.files.create("c", { file });
    const [form] = bodies;
    expect(form).toBeInstanceOf(FormData);
    expect(form instanceof FormData && form.get("file")).toMatchObject({ name: "a.txt", size: 1 });
  });

  test("reports a failure without the key", async () => {
    const fetch = () => Promise.reject(new TypeError(`fetch failed with ${testKey}`));
    const client = new HttpClient({ fetch, apiKey: testKey });
    const failed = client.containers.files.create("c", { file: new File(["x"], "a") });
    const error = await Promise.resolve(failed).catch((thrown: unknown) =>
      toRequestError(thrown, { secrets: [] }),
    );
    expect(error).toMatchObject({ reason: "network" });
    expect(String(error)).not.toContain(testKey);
  });
});
