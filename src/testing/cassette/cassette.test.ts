import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import {
  createCassetteFolder,
  echo,
  type Fetch,
  noNetwork,
  post,
  record,
  serveHttp,
} from "../../../tests/support/cassette/cassette-fixture.ts";
import { cassette } from "./cassette.ts";

describe("cassette", () => {
  test("replays the responses of real HTTP chunk by chunk, with the server stopped", async () => {
    const { url, close } = await serveHttp((request, response) => {
      response.writeHead(201, { "content-type": "text/event-stream", "set-cookie": "id=1" });
      response.write("data: äö");
      setImmediate(() => response.end(`\n\ndata: ${request.url}\n\n`));
    });
    const path = join(createCassetteFolder(), "deep", "run.jsonl");
    const readAll = async (fetch: Fetch) => {
      const response = await fetch(`${url}/v1/responses?a=1`, post({ model: "m" }));
      const chunks: string[] = [];
      for await (const chunk of response.body ?? [])
        chunks.push(Buffer.from(chunk).toString("hex"));
      return { status: response.status, type: response.headers.get("content-type"), chunks };
    };
    const tape = cassette(path, { mode: "record" });
    const first = await readAll(tape.fetch);
    await tape.close();
    await close();
    const again = cassette(pathToFileURL(path), { fetch: noNetwork });
    expect(await readAll(again.fetch)).toEqual(first);
    await again.close();
    expect(Buffer.from(first.chunks.join(""), "hex").toString()).toContain("/v1/responses?a=1");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toEqual(["run.jsonl"]);
    expect(readFileSync(path, "utf8")).not.toContain("set-cookie");
  });

  test("records with mode auto if the file is missing, and replays it afterwards", async () => {
    const path = join(createCassetteFolder(), "run.jsonl");
    const run = async (fetch: Fetch) => {
      await using tape = cassette(path, { mode: "auto", fetch });
      return { mode: tape.mode, text: await (await tape.fetch("http://h/a", post(1))).text() };
    };
    expect(await run(echo)).toEqual({ mode: "record", text: "1" });
    expect(await run(noNetwork)).toEqual({ mode: "replay", text: "1" });
  });

  test("matches concurrent requests by content, and equal ones in their order", async () => {
    let count = 0;
    const answer: Fetch = async () => new Response(`answer ${++count}`);
    const path = await record(answer, async (fetch) => {
      for (const body of ["a", "b", "a"]) await (await fetch("http://h/a", post(body))).text();
    });
    const tape = cassette(path);
    const send = async (body: string) =>
      await (await tape.fetch("http://other:1/a", post(body))).text();
    expect(await Promise.all([send("b"), send("a")])).toEqual(["answer 2", "answer 1"]);
    expect(await send("a")).toBe("answer 3");
    await tape.close();
  });

  test("ignores the order of keys and the host, and compares selected headers", async () => {
    const path = await record(echo, (fetch) =>
      fetch("https://h/a", {
        ...post({ a: 1, b: 2 }),
        headers: { "content-type": "application/json", "openai-beta": "x", "user-agent": "one" },
      }),
    );
    const send = async (beta: string) => {
      await using tape = cassette(path);
      const headers = {
        "content-type": "application/json",
        "openai-beta": beta,
        "user-agent": "two",
      };
      return (await tape.fetch("http://i:8/a", { ...post({ b: 2, a: 1 }), headers })).status;
    };
    expect(await send("x")).toBe(200);
    await expect(send("y")).rejects.toThrow("at headers.openai-beta:\n\n  - x\n  + y\n");
  });

  test("replays failures of the network with their names and codes", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const fail = async () => {
      throw new TypeError("fetch failed", { cause: refused });
    };
    const path = await record(fail, (fetch) => fetch("http://h/a").catch(() => {}));
    await using tape = cassette(path);
    const error: unknown = await tape.fetch("http://h/a").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({
      message: "fetch failed",
      cause: { message: "connect ECONNREFUSED", code: "ECONNREFUSED" },
    });
  });

  test("replays values that are not errors, and errors with other names, as errors", async () => {
    const thrown = [Object.assign(new Error("a"), { name: "Odd" }), "text"];
    const fail = async () => {
      throw thrown.shift();
    };
    const path = await record(fail, async (fetch) => {
      await fetch("http://h/a").catch(() => {});
      await fetch("http://h/b").catch(() => {});
    });
    await using tape = cassette(path);
    await expect(tape.fetch("http://h/a")).rejects.toMatchObject({ name: "Odd", message: "a" });
    await expect(tape.fetch("http://h/b")).rejects.toMatchObject({
      name: "Error",
      message: "text",
    });
  });

  test("replays a stream that was cut midway: the chunks, then the error", async () => {
    let cut = () => {};
    const { url, close } = await serveHttp((_, response) => {
      response.write("data: 1\n\n");
      cut = () => response.destroy();
    });
    const path = join(createCassetteFolder(), "run.jsonl");
    const read = async (fetch: Fetch) => {
      const received: string[] = [];
      try {
        const { body } = await fetch(`${url}/a`);
        for await (const chunk of body ?? []) {
          received.push(Buffer.from(chunk).toString());
          cut();
        }
      } catch (error) {
        received.push(error instanceof Error ? error.message : "");
      }
      return received;
    };
    const tape = cassette(path, { mode: "record" });
    const first = await read(tape.fetch);
    await tape.close();
    await close();
    expect(first).toEqual(["data: 1\n\n", "terminated"]);
    await using again = cassette(path);
    expect(await read(again.fetch)).toEqual(first);
  });

  test("replays a body whose reader stops early, and a text whose length scrub changes", async () => {
    const answer: Fetch = async () => {
      const stream = new ReadableStream({
        start(controller) {
          for (const text of ["Hi, Ada ", "Lovelace", "!"]) controller.enqueue(Buffer.from(text));
          controller.close();
        },
      });
      return new Response(stream);
    };
    const scrub = (text: string) => text.replaceAll("Ada Lovelace", "A.");
    const readFirst = async (fetch: Fetch) => {
      const reader = (await fetch("http://h/a")).body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      await reader?.cancel();
      return Buffer.from(value ?? []).toString();
    };
    const path = await record(
      answer,
      async (fetch) => {
        expect(await readFirst(fetch)).toBe("Hi, Ada ");
        expect(await (await fetch("http://h/b")).text()).toBe("Hi, Ada Lovelace!");
      },
      { scrub },
    );
    const tape = cassette(path, { scrub });
    expect(await readFirst(tape.fetch)).toBe("Hi, Ada ");
    expect(await (await tape.fetch("http://h/b")).text()).toBe("Hi, A.!");
    await tape.close();
  });

  test("records a form that cannot be parsed as it is, and a real response without a body", async () => {
    const { url, close } = await serveHttp((_, response) => response.writeHead(204).end());
    const path = join(createCassetteFolder(), "run.jsonl");
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const send = async (fetch: Fetch) =>
      (await fetch(`${url}/a`, { method: "POST", headers, body: "no form" })).status;
    const tape = cassette(path, { mode: "record" });
    expect(await send(tape.fetch)).toBe(204);
    await tape.close();
    await close();
    await using again = cassette(path);
    expect(await send(again.fetch)).toBe(204);
    expect(readFileSync(path, "utf8")).toContain('"body":{"text":"no form"}');
  });

  test("waits for the caller's abort where the caller aborted: before the response and in the body", async () => {
    const rejectOnAbort = (signal: AbortSignal | null | undefined) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    const answer: Fetch = async (input, init) => {
      if (String(input).endsWith("/a")) return await rejectOnAbort(init?.signal);
      const chunks = [Buffer.from("one")];
      const stream = new ReadableStream({
        async pull(controller) {
          controller.enqueue(chunks.shift() ?? (await rejectOnAbort(init?.signal)));
        },
      });
      return new Response(stream);
    };
    const run = async (fetch: Fetch) => {
      const [before, during] = [new AbortController(), new AbortController()];
      const first = fetch("http://h/a", { signal: before.signal });
      const { body } = await fetch("http://h/b", { signal: during.signal });
      const reader = body?.getReader();
      const chunk = await reader?.read();
      const next = reader?.read();
      before.abort(new Error("enough"));
      during.abort(new Error("stop"));
      await expect(first).rejects.toThrow("enough");
      await expect(next).rejects.toThrow("stop");
      expect(Buffer.from(chunk?.value ?? []).toString()).toBe("one");
    };
    const path = await record(answer, run);
    const tape = cassette(path);
    await run(tape.fetch);
    await tape.close();
  });

  test("counts a request that is aborted at once as sent, and ignores an unknown one", async () => {
    const signal = AbortSignal.abort(new Error("before"));
    const run = async (fetch: Fetch, path: string) => {
      await expect(fetch(`http://h/${path}`, { ...post(1), signal })).rejects.toThrow("before");
    };
    const answer: Fetch = async (_, init) => {
      init?.signal?.throwIfAborted();
      return new Response("ok");
    };
    const path = await record(answer, (fetch) => run(fetch, "a"));
    const tape = cassette(path);
    await run(tape.fetch, "b");
    await run(tape.fetch, "a");
    await tape.close();
  });

  test("keeps the headers that clients read, and no others", async () => {
    const kept = {
      "content-type": "text/plain",
      "retry-after": "2",
      "x-ratelimit-limit-tokens": "9",
      "x-request-id": "r",
    };
    const other = {
      "openai-organization": "acme",
      "set-cookie": "a=b",
      "content-length": "2",
      server: "s",
    };
    const path = await record(
      async () => new Response("no", { status: 429, headers: { ...kept, ...other } }),
      async (fetch) => void (await (await fetch("http://h/a")).text()),
    );
    await using tape = cassette(path);
    const { headers, status } = await tape.fetch("http://h/a");
    expect({ status, headers: Object.fromEntries(headers) }).toEqual({
      status: 429,
      headers: kept,
    });
  });

  test("replays a cassette in which an older version has masked less", async () => {
    const send = (fetch: Fetch) => fetch("http://h/a", post({ token: "v4lue-of-it", n: 1 }));
    const path = await record(async () => new Response("ok"), send);
    const text = readFileSync(path, "utf8");
    expect(text).toContain('"token":"<secret>"');
    writeFileSync(path, text.replaceAll("<secret>", "v4lue-of-it"));
    await using tape = cassette(path, { fetch: noNetwork });
    expect((await send(tape.fetch)).status).toBe(200);
  });

  test("does not record URLs that contain their content", async () => {
    const path = await record(noNetwork, (fetch) => fetch("data:,hi"));
    await using tape = cassette(path);
    expect(await (await tape.fetch(new Request("data:,hi"))).text()).toBe("hi");
  });

  test("keeps responses without a body, and statuses that allow none", async () => {
    const path = await record(
      async (input) => new Response(null, { status: String(input).endsWith("a") ? 204 : 200 }),
      async (fetch) => void (await Promise.all([fetch("http://h/a"), fetch("http://h/b")])),
    );
    await using tape = cassette(path);
    expect((await tape.fetch("http://h/a")).status).toBe(204);
    expect((await tape.fetch("http://h/b")).body).toBeNull();
  });

  test("records a redirect that was not followed, and a response that was not read", async () => {
    const answer: Fetch = async (input) =>
      String(input).endsWith("a")
        ? Object.defineProperties(new Response(null), {
            type: { value: "opaqueredirect" },
            status: { value: 0 },
          })
        : new Response("unread");
    const path = await record(answer, async (fetch) => {
      expect((await fetch("http://h/a", { redirect: "manual" })).status).toBe(302);
      await fetch("http://h/b");
    });
    const tape = cassette(path);
    expect((await tape.fetch("http://h/a")).status).toBe(302);
    const unread = await tape.fetch("http://h/b");
    expect(unread.status).toBe(200);
    await expect(unread.text()).rejects.toThrow("was not read to its end");
  });

  test("refuses to replay a request whose response had not come when the cassette was closed", async () => {
    const sent = Promise.withResolvers<void>();
    const answer: Fetch = () => {
      sent.resolve();
      return new Promise(() => {});
    };
    const path = await record(answer, async (fetch) => {
      fetch("http://h/a").catch(() => {});
      await sent.promise;
    });
    const tape = cassette(path);
    await expect(tape.fetch("http://h/a")).rejects.toThrow("was not read to its end");
    await expect(tape.close()).rejects.toThrow("The response of exchange 1");
  });

  test.each([
    [
      "mode",
      { mode: "play" },
      'cassette(options).mode must be "replay", "record" or "auto", got "play"',
    ],
    ["fetch", { fetch: 1 }, "cassette(options).fetch must be a function, got 1"],
    ["scrub", { scrub: "x" }, 'cassette(options).scrub must be a function, got "x"'],
  ])("refuses an invalid %s", (_, options, problem) => {
    expect(() => cassette("a", Object(options))).toThrow(problem);
  });

  test.each(["", "a\0b", 1, new URL("http://h/a")])("refuses the path %j", (path) => {
    expect(() => cassette(path as string)).toThrow(
      "cassette(path) must be the path or file: URL of a file",
    );
  });
});

describe("names that this package generates", () => {
  const name = (digit: string) => `wink-7c1e-${digit.repeat(16)}`;
  const answer: Fetch = async (_, init) =>
    new Response(`${Buffer.from(init?.body as Uint8Array)} and ${"a".repeat(9)}`);

  test("may differ, and are replaced in responses", async () => {
    const path = await record(answer, async (fetch) => {
      await (await fetch("http://h/a", post({ code: `${name("1")} ${name("2")}` }))).text();
      await (await fetch("http://h/b", post({ code: name("2") }))).text();
    });
    await using tape = cassette(path);
    const send = async (at: string, code: string) =>
      await (await tape.fetch(`http://h/${at}`, post({ code }))).text();
    expect(await send("a", `${name("2")} ${name("3")}`)).toContain(`${name("2")} ${name("3")}`);
    expect(await send("b", name("3"))).toContain(name("3"));
  });

  test("must be used in the same way", async () => {
    const path = await record(answer, async (fetch) => {
      await fetch("http://h/a", post({ code: name("1") }));
      await fetch("http://h/b", post({ code: name("1") }));
    });
    await using tape = cassette(path);
    await tape.fetch("http://h/a", post({ code: name("5") }));
    await expect(tape.fetch("http://h/b", post({ code: name("6") }))).rejects.toThrow(
      "uses the names of uploads in another way than exchange 2",
    );
  });
});

test("a file that is not written to the end is left with .partial, and the old one stays", async () => {
  const path = join(createCassetteFolder(), "run.jsonl");
  writeFileSync(path, "old");
  const tape = cassette(path, { mode: "record", fetch: echo });
  await tape.fetch("http://h/a");
  expect(readFileSync(path, "utf8")).toBe("old");
  await expect.poll(() => readFileSync(`${path}.partial`, "utf8")).toContain('"cassette":1');
  await tape.close();
  expect(readFileSync(path, "utf8")).toContain('"end":true');
});
