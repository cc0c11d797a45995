import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EntryDetail } from "./entry.ts";
import { createPolicy, loadPage } from "./load-page.ts";
import type { SessionMessage } from "./session-message.ts";
import { openSource, type SourceRequest } from "./sources/open-source.ts";
import { startInspector } from "./start-inspector.ts";

const header = {
  n: 0,
  kind: "session",
  version: 2,
  id: "one",
  createdAt: "2026-01-01T00:00:00.000Z",
  tags: {},
};
const started = {
  type: "EvaluationStarted",
  promptName: "baker",
  adapter: "openai",
  createdAt: "2026-01-01T00:00:01.000Z",
};
const turn = {
  ...started,
  type: "TurnCompleted",
  turn: 1,
  text: "Bread is <b>good</b>.",
  toolCalls: [],
  hostedCalls: [],
  durationMs: 9,
};

const toLines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");
const toRecord = (event: object, n: number) => ({ n, kind: "event", event });

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-inspect-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function start(options: SourceRequest): Promise<string> {
  const inspector = await startInspector(await openSource(options));
  onTestFinished(() => inspector[Symbol.asyncDispose]());
  return inspector.url;
}

/** Starts an inspector of a folder with one session. */
async function startFolder(): Promise<{ readonly url: string; readonly file: string }> {
  const folder = await createFolder();
  const file = join(folder, "one.jsonl");
  await writeFile(file, toLines(header, toRecord(started, 1), toRecord(turn, 2)), { mode: 0o600 });
  return { url: await start({ target: folder }), file };
}

/** Sends a request with exact headers, as no browser would. */
async function send(url: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const { hostname, port, pathname, search } = new URL(url);
  return await new Promise<{ readonly status: number; readonly body: string }>(
    (resolve, reject) => {
      const sent = request(
        { hostname, port, path: pathname + search, headers, method },
        (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (text: string) => {
            body += text;
          });
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
        },
      );
      sent.on("error", reject).end();
    },
  );
}

/** Reads messages of a followed session until one matches. */
async function follow(
  url: string,
  isLast: (message: SessionMessage) => boolean,
): Promise<readonly SessionMessage[]> {
  const stop = new AbortController();
  const messages: SessionMessage[] = [];
  try {
    const response = await fetch(url, { signal: stop.signal });
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        if (text.startsWith("data: ")) messages.push(JSON.parse(text.slice(6, end)));
        text = text.slice(end + 2);
        if (messages.some(isLast)) return messages;
      }
    }
  } finally {
    stop.abort();
  }
  return messages;
}

describe("the server of the inspector", () => {
  test("serves its page, its list, summaries, entries and searches", async () => {
    const { url } = await startFolder();
    expect(await (await fetch(url)).text()).toContain("<title>wink inspect</title>");
    const list = await (await fetch(`${url}sessions`)).json();
    expect(list).toMatchObject({
      onlySession: null,
      sessions: [{ id: "one", createdAt: header.createdAt, run: null }],
      omitted: 0,
    });
    expect(await (await fetch(`${url}summary?id=one`)).json()).toMatchObject({
      state: "open",
      turns: 1,
      promptName: "baker",
    });
    const detail: EntryDetail = await (await fetch(`${url}entry?id=one&key=1.1`)).json();
    expect(detail).toEqual({ key: "1.1", events: [turn], files: [], hasContents: false });
    expect(
      await (await fetch(`${url}search?id=one&q=${encodeURIComponent("<B>Good")}`)).json(),
    ).toEqual({ keys: ["1.1"] });
    expect(await (await fetch(`${url}search?id=one&q=nowhere`)).json()).toEqual({ keys: [] });
  });

  test("follows a session file that another process extends", async () => {
    const { url, file } = await startFolder();
    const following = follow(
      `${url}session?id=one`,
      (message) => message.type === "summary" && message.summary.state === "done",
    );
    await expect
      .poll(async () => (await (await fetch(`${url}summary?id=one`)).json()).turns)
      .toBe(1);
    const answer = { ...started, type: "PromptExecuted", text: "Done." };
    await appendFile(file, toLines(toRecord(answer, 3)));
    const messages = await following;
    expect(messages.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["entries", "summary", "loaded"]),
    );
    expect(messages.at(-1)).toMatchObject({ summary: { answer: { text: "Done." } } });
  });

  test("shows the records before a damaged line, and names the line", async () => {
    const { url, file } = await startFolder();
    await appendFile(file, "not JSON\n");
    const summary = await (await fetch(`${url}summary?id=one`)).json();
    expect(summary.turns).toBe(1);
    expect(summary.problem).toMatch(
      /^Line 4 of .*one\.jsonl is not a record: .* The inspector shows the records before it\.$/,
    );
  });

  test("answers nothing without the token of its URL", async () => {
    const { url } = await startFolder();
    const { origin, pathname } = new URL(url);
    for (const path of [
      "/",
      "/sessions",
      "/x/sessions",
      `${pathname.slice(0, -2)}/sessions`,
      `${pathname}sessions/x`,
    ]) {
      const { status, body } = await send(`${origin}${path}`);
      expect({ path, status }).toEqual({ path, status: 404 });
      expect(body).not.toContain("one");
    }
    expect(pathname).toMatch(/^\/[\w-]{24}\/$/);
  });

  test.each([
    ["another host, as in DNS rebinding", { host: "evil.example:80" }],
    ["a name that looks like this machine", { host: "127.0.0.1.evil.example" }],
    ["another origin", { origin: "https://evil.example" }],
    ["an opaque origin", { origin: "null" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another port of this machine", { "sec-fetch-site": "same-site" }],
  ])("refuses requests of %s, even with the token", async (_name, headers) => {
    const { url } = await startFolder();
    for (const path of ["", "sessions", "session?id=one", "entry?id=one&key=1.1"]) {
      const { status, body } = await send(`${url}${path}`, headers);
      expect({ path, status }).toEqual({ path, status: 403 });
      expect(body).toBe(
        '{"error":"Only pages and programs of this machine may use the inspector. Open the URL that wink inspect printed."}',
      );
    }
  });

  test("only reads", async () => {
    const { url } = await startFolder();
    for (const method of ["POST", "PUT", "DELETE", "PATCH"])
      expect((await send(`${url}sessions`, {}, method)).status).toBe(405);
  });

  test("answers 404 for unknown sessions, entries, files and paths", async () => {
    const { url } = await startFolder();
    for (const path of [
      "session?id=none",
      "session",
      "summary?id=",
      "summary?id=..%2F..%2Fetc",
      "entry?id=one&key=9",
      "diff?id=one&key=&path=a",
      "other?id=one",
    ]) {
      expect({ path, status: (await send(`${url}${path}`)).status }).toEqual({ path, status: 404 });
    }
  });

  test("answers 404 to a target that is not a URL, without the token", async () => {
    const { url } = await startFolder();
    const { hostname, port } = new URL(url);
    const status = await new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path: "//" }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject).end();
    });
    expect(status).toBe(404);
  });

  test("names why the difference of a file is not shown, and answers 404 without a path", async () => {
    const { url, file } = await startFolder();
    const files = { "a.txt": { sha256: "a".repeat(64), bytes: 3 } };
    const manifest = { section: "w", isComplete: true, files, mounted: { files: {} } };
    await appendFile(file, toLines(toRecord({ ...started, type: "WorkspaceKept", manifest }, 3)));
    await fetch(`${url}summary?id=one`);
    const response = await fetch(`${url}diff?id=one&key=n3&path=a.txt`);
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: {
        problem: expect.stringMatching(/^The session has only digests of files\. Start wink/),
      },
    });
    expect((await fetch(`${url}diff?id=one`)).status).toBe(404);
  });

  test("allows only its own script, and lets no other page embed or read it", async () => {
    const { url } = await startFolder();
    const { headers } = await fetch(url);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'; connect-src 'self';/,
    );
    expect(policy).toContain(
      "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(policy).not.toContain("unsafe");
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
      ...{
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
      },
    });
    expect((await fetch(`${url}sessions`)).headers.get("content-security-policy")).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
  });

  test("refuses a port in use", async () => {
    const { url } = await startFolder();
    const folder = await createFolder();
    const source = await openSource({ target: folder });
    const port = Number(new URL(url).port);
    await expect(startInspector(source, { port })).rejects.toThrow(
      /^--port must be free to listen on \(listen EADDRINUSE/,
    );
  });
});

describe("loadPage()", () => {
  test("reads the built page, and builds it without one", async () => {
    const file = join(await createFolder(), "page.html");
    await writeFile(file, "<style>a</style><script>b</script>");
    expect(await loadPage(new URL(`file://${file}`))).toMatchObject({
      html: "<style>a</style><script>b</script>",
    });
    const { html } = await loadPage(new URL("file:///nowhere/page.html"));
    expect(html.length).toBeLessThan(64_000);
    expect(html).toContain("This script contains Preact");
    expect(html).toContain("Permission is hereby granted, free of charge");
    expect(html).not.toMatch(/\b(?:https?:)?\/\/(?!127)[\w.]+\.(?:js|css|woff)/); // it loads nothing
  });

  test("allows each script and style by its digest", () => {
    expect(createPolicy("<script>1</script>")).toContain(
      "script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='",
    );
  });
});
