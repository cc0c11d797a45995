import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Listening, listen } from "./listen.ts";
import { WholeResponse } from "./whole-response.ts";

type Handle = (request: Request) => Response | Promise<Response>;

async function served(handle: Handle): Promise<Listening> {
  const listening = await listen(handle, {});
  onTestFinished(() => listening.close());
  return listening;
}

/** All that comes back for these bytes, up to the end of the connection. */
async function spoken({ url }: Listening, request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let heard = "";
  socket.setEncoding("utf8").on("data", (part) => {
    heard += part;
  });
  socket.write(request);
  await once(socket, "close");
  return heard;
}

const json = { "content-type": "application/json" };

describe("a whole answer", () => {
  test("is sent as it is, with its length in bytes", async () => {
    const listening = await served(() => new WholeResponse('{"owl":"\u00e9"}', json, 201));
    const response = await fetch(listening.url);
    expect(response.status).toBe(201);
    expect(Object.fromEntries(response.headers)).toMatchObject({ ...json, "content-length": "12" });
    expect(await response.json()).toEqual({ owl: "\u00e9" });
  });

  test("follows another on the same connection", async () => {
    const listening = await served(
      (request) => new WholeResponse(new URL(request.url).pathname, {}),
    );
    const asked = (path: string, end: string) =>
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: ${end}\r\n\r\n`;
    const heard = await spoken(listening, asked("/a", "keep-alive") + asked("/b", "close"));
    expect(heard.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(heard).toMatch(/\r\n\r\n\/aHTTP.*\r\n\r\n\/b$/s);
  });

  test("has no body for those who ask for its head alone", async () => {
    const listening = await served(() => new WholeResponse("Hello.", {}));
    const asked = "HEAD / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    const heard = await spoken(listening, asked);
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(heard).toMatch(/content-length: 6\r\n.*\r\n\r\n$/s);
  });

  test("to a body that nobody read leaves the connection to the next", async () => {
    const listening = await served(() => new WholeResponse("No.", {}));
    const asked = (end: string) =>
      `POST / HTTP/1.1\r\nhost: localhost\r\nconnection: ${end}\r\ncontent-length: 90000\r\n\r\n${"x".repeat(90_000)}`;
    const heard = await spoken(listening, asked("keep-alive") + asked("close"));
    expect(heard.match(/\r\n\r\nNo\./g)).toHaveLength(2);
  });

  test("for a client that has gone is for nobody, and the next is served", async () => {
    const [asked, gone, answered] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const listening = await served(async (request) => {
      if (request.method === "GET") return new WholeResponse("Still here.", {});
      await request.text();
      request.signal.addEventListener("abort", () => gone?.resolve());
      asked?.resolve();
      await gone?.promise;
      setImmediate(() => answered?.resolve());
      return new WholeResponse("Too late.", {});
    });
    const controller = new AbortController();
    const { signal } = controller;
    const lost = fetch(listening.url, { method: "POST", body: "Hi.", signal });
    await asked?.promise;
    controller.abort();
    await expect(lost).rejects.toThrow("aborted");
    await answered?.promise;
    expect(await (await fetch(listening.url)).text()).toBe("Still here.");
  });
});

describe("a request", () => {
  const plain = (path: string, host = "localhost") =>
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;

  test.each([
    ["/v1/%41", "http://localhost/v1/%41"],
    ["/v1/../a", "http://localhost/a"],
    ["http://other/v1", "http://other/v1"],
  ])("for the odd address %s is answered all the same", async (path, url) => {
    const listening = await served((request) => new WholeResponse(request.url, {}));
    expect(await spoken(listening, plain(path))).toMatch(new RegExp(`\r\n\r\n${url}$`));
  });

  test.each([
    ["/v1", "a b"],
    ["/v1\\a", "localhost"],
  ])("for %s on the host %s is refused", async (path, host) => {
    const listening = await served(() => expect.unreachable());
    expect(await spoken(listening, plain(path, host))).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("that fails in a way nobody thought of is answered with 500", async () => {
    const listening = await served(() => {
      throw new Error("Oh.");
    });
    const heard = await spoken(listening, plain("/"));
    expect(heard).toMatch(/^HTTP\/1\.1 500 /);
    expect(heard).not.toContain("Oh.");
  });

  test("is not answered with a header that cannot be sent", async () => {
    const listening = await served(() => new WholeResponse("Hello.", { "x-bad": "a\nb" }));
    expect(await spoken(listening, plain("/"))).toBe("");
  });
});

describe("a port that is taken", () => {
  test("is refused in words", async () => {
    const { url } = await served(() => new Response(null));
    const port = Number(new URL(url).port);
    await expect(listen(() => new Response(null), { port })).rejects.toThrow(
      /listen\(port\) must be free to listen on/,
    );
  });
});
