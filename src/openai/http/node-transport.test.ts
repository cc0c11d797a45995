import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodeTransport } from "./node-transport.ts";
import { forEachChunk, type HttpRequest, readWhole } from "./transport.ts";

const run = promisify(execFile);
const hasIPv6 = Object.values(networkInterfaces()).some((addresses = []) =>
  addresses.some(({ address }) => address === "::1"),
);
const request: HttpRequest = {
  method: "GET",
  url: "http://127.0.0.1",
  headers: {},
  body: null,
  timeoutMs: 5_000,
  signal: undefined,
};

async function listen(server: Server | ReturnType<typeof createTcpServer>, host = "127.0.0.1") {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

describe("nodeTransport()", () => {
  test("uses one connection for requests one after the other", async () => {
    const { port, sockets } = await listen(createServer((_, answer) => answer.end("{}")));
    const send = nodeTransport();
    for (let count = 0; count < 5; count++) {
      const answer = await send({ ...request, url: `http://127.0.0.1:${port}/` });
      expect((await readWhole(answer, 100)).length).toBe(2);
    }
    expect(sockets.size).toBe(1);
  });

  test("an idle connection keeps neither the readers of its responses nor their data", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const { port, sockets } = await listen(createServer((_, answer) => answer.end("{}")));
    const send = nodeTransport();
    const exchange = async () => {
      const chunks: Uint8Array[] = [];
      const answer = await send({ ...request, url: `http://127.0.0.1:${port}/` });
      await forEachChunk(answer, (chunk) => {
        chunks.push(chunk);
        return null;
      });
      return [new WeakRef(chunks), new WeakRef(answer)];
    };
    const kept = [...(await exchange()), ...(await exchange())];
    await expect
      .poll(() => {
        collectGarbage();
        return kept.filter((reference) => reference.deref()).length;
      })
      .toBe(0);
    expect([...sockets].filter(({ destroyed }) => !destroyed)).toHaveLength(1);
  });

  test("sends requests with alternating paths, queries and hosts to their own URLs", async () => {
    const echo = createServer((asked, answer) => answer.end(`${asked.headers.host}${asked.url}`));
    const { port } = await listen(echo);
    const send = nodeTransport();
    const urls = [`127.0.0.1:${port}/a`, `127.0.0.1:${port}/a?v=1`, `localhost:${port}/a`];
    for (const url of [...urls, ...urls.toReversed()]) {
      const body = await readWhole(await send({ ...request, url: `http://${url}` }), 100);
      expect(new TextDecoder().decode(body)).toBe(url);
    }
  });

  test("reports whether a body has arrived, before it is read", async () => {
    const server = createServer((asked, answer) => {
      answer.write("first");
      if (asked.url === "/whole") answer.end();
    });
    const { port } = await listen(server);
    const send = nodeTransport();
    const whole = await send({ ...request, url: `http://127.0.0.1:${port}/whole` });
    await expect.poll(() => whole.hasArrived).toBe(true);
    expect((await readWhole(whole, 100)).length).toBe(5);
    const part = await send({ ...request, url: `http://127.0.0.1:${port}/part` });
    expect(part.hasArrived).toBe(false);
    part.cancel();
  });

  test("does not load the client for HTTPS, which takes 10 ms, for a request over plain HTTP", async () => {
    const { port } = await listen(createServer((_, answer) => answer.end("{}")));
    const program = `
      const { nodeTransport } = await import(${JSON.stringify(new URL("node-transport.ts", import.meta.url).href)});
      await nodeTransport()({ ...${JSON.stringify(request)}, url: "http://127.0.0.1:${port}/" });
      const loaded = ["http", "https"].filter((name) => process.moduleLoadList.includes("NativeModule " + name));
      process.stdout.write(loaded.join(), () => process.exit());`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout).toBe("http");
  });

  test("sends a request over a new connection after the server has closed the last one", async () => {
    const { port, sockets } = await listen(createServer((_, answer) => answer.end("{}")));
    const send = nodeTransport();
    await readWhole(await send({ ...request, url: `http://127.0.0.1:${port}/` }), 100);
    const [first] = sockets;
    first?.end();
    await expect.poll(() => first?.closed).toBe(true);
    const answer = await send({ ...request, url: `http://127.0.0.1:${port}/` });
    expect((await readWhole(answer, 100)).length).toBe(2);
    expect(sockets.size).toBe(2);
  });

  test("rejects a response that switches protocols, which has no body", async () => {
    const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
    const { port } = await listen(createTcpServer((socket) => void socket.write(head)));
    const sent = nodeTransport()({ ...request, url: `http://127.0.0.1:${port}/` });
    await expect(sent).rejects.toMatchObject({ name: "ConnectionClosed", code: "ECONNRESET" });
  });

  test("gives a reused connection the whole timeout, also if it equals the limit of idle connections", async () => {
    let count = 0;
    const server = createServer((_, answer) => {
      count += 1;
      setTimeout(() => answer.end("{}"), count === 1 ? 0 : 1_300);
    });
    server.keepAliveTimeout = 2_000; // Node then keeps an idle connection for 1 s
    const { port, sockets } = await listen(server);
    const send = nodeTransport();
    for (let sent = 0; sent < 2; sent++) {
      const own = { ...request, url: `http://127.0.0.1:${port}/`, timeoutMs: 30_000 };
      expect((await readWhole(await send(own), 100)).length).toBe(2);
    }
    expect(sockets.size).toBe(1);
  });

  test("times out if the server accepts a connection and never encrypts it", async () => {
    const { port } = await listen(createTcpServer(() => {}));
    const sent = nodeTransport()({ ...request, url: `https://127.0.0.1:${port}/`, timeoutMs: 50 });
    await expect(sent).rejects.toMatchObject({ code: /^UND_ERR_(?:CONNECT|HEADERS)_TIMEOUT$/ });
  });

  test("does not time out while the reader pauses, and does afterwards", async () => {
    const server = createServer((_, answer) => void answer.write("first"));
    const { port } = await listen(server);
    const url = `http://127.0.0.1:${port}/`;
    const answer = await nodeTransport()({ ...request, url, timeoutMs: 40 });
    const { promise: paused, resolve } = Promise.withResolvers<void>();
    const read = forEachChunk(answer, () => paused);
    const isTimedOut = read.then(
      () => false,
      () => true,
    );
    const slow = new Promise<string>((done) => setTimeout(done, 200, "still paused"));
    expect(await Promise.race([isTimedOut, slow])).toBe("still paused");
    resolve();
    await expect(read).rejects.toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
  });

  test("stops an upload that the server has answered", async () => {
    const server = createServer((_, answer) => answer.writeHead(413).end("too large"));
    const { port } = await listen(server);
    let isCanceled = false;
    class Endless extends File {
      override stream() {
        const pull = (controller: ReadableStreamDefaultController) =>
          controller.enqueue(new Uint8Array(65_536));
        const cancel = () => {
          isCanceled = true;
        };
        return new ReadableStream<Uint8Array<ArrayBuffer>>({ pull, cancel });
      }
      override get size() {
        return 2 ** 40;
      }
    }
    const url = `http://127.0.0.1:${port}/`;
    const body = [["file", new Endless([], "large.bin")]] as const;
    const answer = await nodeTransport()({ ...request, method: "POST", url, body });
    expect(answer.status).toBe(413);
    expect((await readWhole(answer, 100)).length).toBe(9);
    await expect.poll(() => isCanceled).toBe(true);
  });

  test.skipIf(!hasIPv6)("connects to an IPv6 address", async () => {
    const { port } = await listen(
      createServer((_, answer) => answer.end("{}")),
      "::1",
    );
    const answer = await nodeTransport()({ ...request, url: `http://[::1]:${port}/` });
    expect(answer.status).toBe(200);
    answer.cancel();
  });

  test("removes its listener from the signal when the response has ended", async () => {
    const { port } = await listen(createServer((_, answer) => answer.end("{}")));
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = Object.assign(signal, {
      addEventListener: (...args: Parameters<AbortSignal["addEventListener"]>) => {
        listeners += 1;
        EventTarget.prototype.addEventListener.apply(signal, args);
      },
      removeEventListener: (...args: Parameters<AbortSignal["removeEventListener"]>) => {
        listeners -= 1;
        EventTarget.prototype.removeEventListener.apply(signal, args);
      },
    });
    const url = `http://127.0.0.1:${port}/`;
    await readWhole(await nodeTransport()({ ...request, url, signal: counted }), 100);
    await expect.poll(() => listeners).toBe(0);
  });
});
