import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished } from "vitest";
import type { LocalModel } from "weakincentives/local";
import { WebSocket } from "ws";
import { attempt } from "../support/attacks/attempt.ts";
import { formatRequest, sendRaw } from "../support/attacks/send-raw.ts";
import { startServerTarget, TURN } from "../support/attacks/server-target.ts";

const own = (tries: string, shows: string) => ({ finding: "own", surface: "server", tries, shows });

attempt(
  own(
    "a wrong key that is a prefix, longer, in another header, in the query, twice, or not ASCII",
    "All are 401; keys are compared by their hashes in constant time.",
  ),
  async () => {
    const key = "sk-local-0123456789";
    const { port } = await startServerTarget({ apiKey: key });
    const attempts: readonly Record<string, string>[] = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { authorization: `Bearer ${key.slice(0, -1)}` },
      { authorization: `Bearer ${key}x` },
      { authorization: `Basic ${Buffer.from(key).toString("base64")}` },
      { authorization: `Bearer ${key.toUpperCase()}` },
      { "x-api-key": key }, // Anthropic's header on OpenAI's route
      { cookie: `authorization=Bearer ${key}` },
      { "openai-api-key": key },
      { authorization: `Bearer ${key}\u00e9` },
    ];
    const through: string[] = [];
    for (const headers of attempts) {
      const { status } = await sendRaw(port, formatRequest("GET /v1/files", headers));
      if (status !== 401) through.push(JSON.stringify(headers));
    }
    const inQuery = await sendRaw(port, formatRequest(`GET /v1/files?api_key=${key}`));
    if (inQuery.status !== 401) through.push("query");
    return { tried: attempts.length + 1, through };
  },
);

attempt(
  own(
    "the key, or a guess of it, appears in the log, in reported faults or in an error message",
    "Neither the server's key nor the client's appears anywhere.",
  ),
  async () => {
    const key = "sk-local-secret-owl";
    const { port, entries, faults } = await startServerTarget({ apiKey: key });
    const texts: string[] = [];
    for (const headers of [
      { authorization: "Bearer sk-guess-elk" },
      { "x-api-key": "sk-guess-elk", "anthropic-version": "2023-06-01" },
      { authorization: `Bearer ${key}` },
    ])
      for (const line of ["GET /v1/nowhere?key=sk-guess-elk", "POST /v1/messages"])
        texts.push((await sendRaw(port, formatRequest(line, headers))).text);
    const all = JSON.stringify([texts, entries, faults.map(String)]);
    return { tried: 6, through: /secret-owl|guess-elk/.test(all) ? [all.slice(0, 500)] : [] };
  },
);

attempt(
  own(
    "forms with 10,000 parts, a part header of a megabyte, an endless boundary, and nested forms",
    "Each is a 400 or 413, and nothing of it is kept.",
  ),
  async () => {
    const { port, faults } = await startServerTarget();
    const part = (name: string) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nx\r\n`;
    const forms: readonly (readonly [string, string])[] = [
      ["b", `${Array.from({ length: 10_000 }, (_, at) => part(`f${at}`)).join("")}--b--\r\n`],
      [
        "b",
        `--b\r\ncontent-disposition: form-data; name="file"; filename="${"a".repeat(2 ** 20)}"\r\n\r\nx\r\n--b--\r\n`,
      ],
      ["b".repeat(5_000), `--${"b".repeat(5_000)}`],
      [
        "b",
        `--b\r\ncontent-type: multipart/mixed; boundary=c\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n`,
      ],
      ["", "--\r\n"],
      ["b", "--b\r\n\r\n\r\n".repeat(1_000)],
    ];
    const through: string[] = [];
    for (const [boundary, body] of forms) {
      const type = `multipart/form-data; boundary=${boundary}`;
      const { status } = await sendRaw(
        port,
        formatRequest("POST /v1/files", { "content-type": type }, body),
      );
      if (status < 400 || status >= 500) through.push(`${status} ${body.slice(0, 80)}`);
    }
    return { tried: forms.length, through: [...through, ...faults.map(String)] };
  },
  { timeout: 60_000 },
);

async function openSocket(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/responses`);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

attempt(
  own(
    "a WebSocket message in a million fragments, a flood of pings, and a frame that announces 2^60 bytes",
    "The connection is closed or the message refused; other clients are still answered.",
  ),
  async () => {
    const { url, port, post } = await startServerTarget({ limits: { maxBodyBytes: 2 ** 20 } });
    const fragments = await openSocket(url);
    fragments.on("error", () => undefined);
    const isClosed = new Promise((resolve) => fragments.once("close", resolve));
    for (let at = 0; at < 20_000 && fragments.readyState === fragments.OPEN; at++)
      fragments.send("x".repeat(100), { fin: false });
    const pings = await openSocket(url);
    for (let at = 0; at < 20_000; at++) pings.ping();
    const raw = connect(port, "127.0.0.1");
    onTestFinished(() => void raw.destroy());
    raw.on("error", () => undefined);
    const isCut = new Promise((resolve) => raw.once("close", resolve));
    const shake = formatRequest("GET /v1/responses", {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    });
    raw.write(shake);
    await once(raw, "data");
    raw.write(Buffer.from([0x81, 0xff, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]));
    await isCut;
    await isClosed;
    const { status } = await post("responses", TURN);
    return { tried: 3, through: status === 200 ? [] : [String(status)] };
  },
  { timeout: 60_000 },
);

attempt(
  own(
    "one WebSocket connection sends 1,000 requests at once to slow turns",
    "16 run, 256 wait, and the rest get an error event; the connection stays open.",
  ),
  async () => {
    let running = 0;
    let most = 0;
    const model: LocalModel = {
      async respond(_request, options) {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => {
          setTimeout(resolve, 20_000).unref();
          options?.signal?.addEventListener("abort", resolve);
        });
        running -= 1;
        return [{ say: "Done." }];
      },
    };
    const { url } = await startServerTarget({ model });
    const socket = await openSocket(url);
    let errors = 0;
    socket.on("message", (data) => {
      if (String(data).includes('"type":"error"')) errors += 1;
    });
    for (let at = 0; at < 1_000; at++)
      socket.send(
        JSON.stringify({
          type: "response.create",
          stream_id: `s${at % 20}`,
          model: "any",
          input: "Hi.",
        }),
      );
    await expect.poll(() => errors, { timeout: 10_000 }).toBeGreaterThan(600);
    const isOpen = socket.readyState === socket.OPEN;
    return { tried: 1_000, through: most <= 16 && isOpen ? [] : [`${most} ran at once`] };
  },
  { timeout: 30_000 },
);
