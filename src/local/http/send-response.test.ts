import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { BufferedResponse } from "./buffered-response.ts";
import { listen } from "./listen.ts";

type Handle = (request: Request) => Response | Promise<Response>;

/** Connects a client that sends raw bytes to a server. */
async function connectTo(handle: Handle): Promise<Socket> {
  const listening = await listen(handle, {});
  const socket = connect(Number(new URL(listening.url).port), "127.0.0.1");
  socket.on("error", () => {}); // some of these connections are reset
  onTestFinished(async () => {
    socket.destroy();
    await listening.close();
  });
  await once(socket, "connect");
  return socket;
}

/** Unlike `once`, it does not reject if the connection is reset. */
const waitForClose = (socket: Socket) => new Promise((resolve) => socket.once("close", resolve));

/** Sends bytes and returns everything that arrives until the connection closes. */
async function exchange(socket: Socket, bytes: string): Promise<string> {
  let heard = "";
  socket.setEncoding("latin1").on("data", (part) => {
    heard += part;
  });
  socket.write(bytes);
  await waitForClose(socket);
  return heard;
}

const createGet = (end = "close") =>
  `GET / HTTP/1.1\r\nhost: localhost\r\nconnection: ${end}\r\n\r\n`;
const encode = (text: string) => new TextEncoder().encode(text);

function toStream(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  return Readable.toWeb(Readable.from(chunks)) as ReadableStream<Uint8Array>;
}

/** A stream of 64 KiB chunks without an end, and how many of them were read. */
function createEndlessBody() {
  const canceled = Promise.withResolvers<unknown>();
  const body = { chunks: 0, canceled: canceled.promise, stream: new ReadableStream<Uint8Array>() };
  body.stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        body.chunks++;
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel: canceled.resolve,
    },
    { highWaterMark: 0 },
  );
  return body;
}

describe("a streamed response", () => {
  test("is sent in chunks, with its headers and its end", async () => {
    const socket = await connectTo(
      () => new Response(toStream([encode("a"), encode("b")]), { headers: { "x-a": "1" } }),
    );
    const heard = await exchange(socket, createGet());
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(heard).toMatch(/\r\nx-a: 1\r\n/);
    expect(heard).toMatch(/\r\ndate: /i);
    expect(heard).toMatch(/\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n$/);
  });

  test("has no chunks for a client of HTTP/1.0", async () => {
    const socket = await connectTo(() => new Response(toStream([encode("a"), encode("b")])));
    const heard = await exchange(socket, "GET / HTTP/1.0\r\nhost: localhost\r\n\r\n");
    expect(heard).toMatch(/\r\n\r\nab$/);
    expect(heard).not.toMatch(/transfer-encoding/i);
  });

  test("sends its headers before its first chunk", async () => {
    const gate = Promise.withResolvers<void>();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await gate.promise;
        controller.close();
      },
    });
    const socket = await connectTo(() => new Response(stream));
    socket.write(createGet());
    const [head] = await once(socket, "data");
    expect(String(head)).toMatch(/^HTTP\/1\.1 200 OK/);
    gate.resolve();
    await waitForClose(socket.resume());
  });

  test("ends without its end if the body fails", async () => {
    const chunks = async function* () {
      yield encode("a");
      throw new Error("Lost.");
    };
    const socket = await connectTo(() => new Response(toStream(chunks())));
    const heard = await exchange(socket, createGet());
    expect(heard).toMatch(/\r\n\r\n1\r\na\r\n$/);
    expect(heard).not.toContain("Lost.");
  });

  test("waits for a client that does not read, and stops when it disconnects", async () => {
    const body = createEndlessBody();
    const socket = await connectTo(() => new Response(body.stream));
    socket.pause().write(createGet());
    let last = 0;
    const hasStopped = () => {
      const before = last;
      last = body.chunks;
      return before > 0 && before === last;
    };
    await expect.poll(hasStopped, { interval: 200, timeout: 20_000 }).toBe(true); // the buffers are full
    expect(body.chunks).toBeLessThan(1000);
    socket.destroy();
    expect(await body.canceled).toEqual(new Error("The client disconnected."));
  });

  test("is canceled if the client disconnected before it began", async () => {
    const body = createEndlessBody();
    const asked = Promise.withResolvers<void>();
    const socket = await connectTo(async ({ signal }) => {
      const gone = once(signal, "abort");
      asked.resolve();
      await gone;
      return new Response(body.stream);
    });
    socket.write(createGet());
    await asked.promise;
    socket.destroy();
    expect(await body.canceled).toBeInstanceOf(Error);
    expect(body.chunks).toBeLessThan(2);
  });

  test("does not keep listeners on a connection that serves many", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const socket = await connectTo(() => new Response(toStream([encode("a")])));
    const heard = await exchange(socket, createGet("keep-alive").repeat(30) + createGet());
    expect(heard.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(31);
    expect(warnings).toEqual([]);
  });
});

describe("a response to a request whose body was not read", () => {
  const POST = "POST / HTTP/1.1\r\nhost: localhost\r\n";

  test("leaves the connection usable if a part of the body was read", async () => {
    const socket = await connectTo(async (request) => {
      const reader = request.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      return new BufferedResponse("No.", {});
    });
    const length = 5_000_000;
    const post = `${POST}content-length: ${length}\r\n\r\n${"x".repeat(length)}`;
    const heard = await exchange(socket, post + createGet());
    expect(heard.match(/\r\n\r\nNo\./g)).toHaveLength(2);
  });

  test("ends the connection of a client that never sends the rest", async () => {
    const socket = await connectTo(() => new BufferedResponse("No.", {}));
    const heard = await exchange(socket, `${POST}content-length: 1000\r\n\r\nx`);
    expect(heard).toMatch(/\r\n\r\nNo\.$/);
  });

  test("ends the connection of a client that sends without an end", async () => {
    const socket = await connectTo(() => new BufferedResponse("No.", {}));
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    socket.write(`${POST}transfer-encoding: chunked\r\n\r\n`);
    socket.resume();
    const send = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", send);
    send();
    await waitForClose(socket);
    expect(socket.bytesWritten).toBeLessThan(2 ** 30);
  });

  test("is preceded by 100 Continue if the client waits for it", async () => {
    const socket = await connectTo(
      async (request) => new BufferedResponse(await request.text(), {}),
    );
    socket.write(`${POST}expect: 100-continue\r\nconnection: close\r\ncontent-length: 2\r\n\r\n`);
    const [first] = await once(socket, "data");
    expect(String(first)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    expect(await exchange(socket, "Hi")).toMatch(/^HTTP\/1\.1 200 OK.*\r\n\r\nHi$/s);
  });
});

describe("a hostile request", () => {
  const handle = () => new BufferedResponse("Hello.", {});

  test.each([
    ["a line that is none", "hello\r\n\r\n", 400],
    ["a target without a slash", "OPTIONS * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", 400],
    ["no host", "GET / HTTP/1.1\r\nconnection: close\r\n\r\n", 400],
    ["an empty host", "GET / HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n", 400],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
      400,
    ],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["headers of 20 kB", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, 431],
    ["a target of 20 kB", `GET /${"y".repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431],
    [
      "a header named __proto__",
      "GET / HTTP/1.1\r\nhost: a\r\n__proto__: b\r\nconnection: close\r\n\r\n",
      200,
    ],
  ])("with %s is answered, and the connection closes", async (_what, bytes, status) => {
    const socket = await connectTo(handle);
    expect(await exchange(socket, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test("that is pipelined behind others is answered in order", async () => {
    const socket = await connectTo(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/slow") await new Promise((resolve) => setImmediate(resolve));
      return new BufferedResponse(pathname, {});
    });
    const heard = await exchange(
      socket,
      createGet("keep-alive").replace("/ ", "/slow ") + createGet().replace("/ ", "/fast "),
    );
    expect(heard).toMatch(/\r\n\r\n\/slowHTTP.*\r\n\r\n\/fast$/s);
  });
});
