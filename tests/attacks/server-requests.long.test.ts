import { expect } from "vitest";
import { attempt } from "../support/attacks/attempt.ts";
import { formatRequest, sendRaw } from "../support/attacks/send-raw.ts";
import { JSON_TYPE, startServerTarget, TURN } from "../support/attacks/server-target.ts";

const own = (tries: string, shows: string) => ({ finding: "own", surface: "server", tries, shows });

attempt(
  own(
    "requests that two parsers would read differently: both lengths, two lengths, odd chunks, folded headers",
    "The parser refuses each with 400 and closes, and never runs the request inside the body.",
  ),
  async () => {
    const { port, entries } = await startServerTarget();
    const inner = formatRequest("POST /v1/responses", JSON_TYPE, TURN);
    const head =
      "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    const bytes = [
      `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n${inner}`,
      `${head}content-length: 2\r\ncontent-length: 300\r\n\r\n{}${inner}`,
      `${head}content-length: +2\r\n\r\n{}${inner}`,
      `${head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `${head}transfer-encoding: chunked\r\n\r\n-1\r\n\r\n${inner}`,
      `${head}transfer-encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n${inner}`,
      `${head}content-length : 2\r\n\r\n{}${inner}`,
      `${head}x-a: b\r\n folded\ncontent-length: 2\r\n\r\n{}${inner}`,
      `GET /v1/models\r\n\r\n${inner}`,
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${inner}`,
    ];
    const through: string[] = [];
    for (const one of bytes) {
      const { text } = await sendRaw(port, one, { waitMs: 2_000 });
      if (text.includes("You said")) through.push(one.slice(0, 200));
    }
    expect(entries.filter((entry) => "status" in entry && entry.status === 200)).toEqual([]);
    return { tried: bytes.length, through };
  },
  { timeout: 60_000 },
);

attempt(
  own(
    "headers of a megabyte, 5,000 headers, and a URL of 100,000 characters",
    "The parser answers 431 or closes the connection before anything runs; no memory is kept.",
  ),
  async () => {
    const { port } = await startServerTarget();
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x-${at}`, "a"]));
    const bytes = [
      formatRequest("GET /v1/models", { "x-long": "a".repeat(2 ** 20) }),
      formatRequest("GET /v1/models", many),
      formatRequest(`GET /v1/models?${"a".repeat(100_000)}`),
    ];
    const through: string[] = [];
    for (const one of bytes) {
      const { status } = await sendRaw(port, one);
      if (status < 400 && status !== 0) through.push(one.slice(0, 60));
    }
    return { tried: bytes.length, through };
  },
);

attempt(
  own(
    "a declared length of a terabyte, on routes for JSON and for files",
    "413 at once: the length is compared with the limit before a byte of the body is read.",
  ),
  async () => {
    const { port } = await startServerTarget();
    const through: string[] = [];
    for (const [path, type] of [
      ["responses", "application/json"],
      ["messages", "application/json"],
      ["files", "multipart/form-data; boundary=b"],
    ]) {
      const head = `POST /v1/${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: 1099511627776\r\n\r\n{`;
      const { status } = await sendRaw(port, head, { until: /\r\n\r\n/ });
      if (status !== 413) through.push(`${path} ${status}`);
    }
    return { tried: 3, through };
  },
);

attempt(
  own(
    "methods that proxies and debuggers know: TRACE, CONNECT, PUT, PATCH, and method overrides",
    "None of them is served, nothing is echoed, and an override header has no effect.",
  ),
  async () => {
    const { port, get } = await startServerTarget();
    const through: string[] = [];
    for (const line of [
      "TRACE /v1/models",
      "CONNECT localhost:22",
      "PUT /v1/files",
      "PATCH /v1/files",
    ]) {
      const { status, text } = await sendRaw(port, formatRequest(line, { "x-secret": "owl" }));
      if ((status < 400 && status !== 0) || text.includes("owl")) through.push(line);
    }
    const override = { "x-http-method-override": "DELETE", "x-method-override": "DELETE" };
    const { status } = await sendRaw(port, formatRequest("GET /v1/models", override));
    expect([status, (await get("models")).status]).toEqual([200, 200]);
    return { tried: 5, through };
  },
);

attempt(
  own(
    "ids with path traversal, null bytes, double encoding and names of object prototypes",
    "Every one is an unknown id: 404 or 400. No file outside the store is read.",
  ),
  async () => {
    const { get, faults } = await startServerTarget();
    const ids = [
      "..%2f..%2f..%2fetc%2fpasswd",
      "..%252f..%252fetc%252fpasswd",
      "%2e%2e%2fseal.key",
      "..\\..\\seal.key",
      "file-%00",
      "__proto__",
      "constructor",
      "toString",
      "%ff%fe",
      "a".repeat(5_000),
      "' OR 1=1 --",
    ];
    const through: string[] = [];
    for (const id of ids)
      for (const path of [
        `files/${id}`,
        `files/${id}/content`,
        `containers/${id}`,
        `containers/${id}/files/${id}/content`,
        `responses/${id}`,
        `conversations/${id}`,
        `vector_stores/${id}`,
        `chat/completions/${id}`,
      ]) {
        const { status, text } = await get(path);
        if (status < 400 || status >= 500 || text.includes("root:"))
          through.push(`${path} ${status}`);
      }
    return { tried: 8 * ids.length, through: [...through, ...faults.map(String)] };
  },
);

attempt(
  own(
    "SQL in ids, cursors, names, metadata and filters",
    "Values are always bound parameters: nothing is deleted, and the answers are ordinary errors or empty lists.",
  ),
  async () => {
    const { get, post, faults } = await startServerTarget();
    const sql = "x'; DROP TABLE files; --";
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new Blob(["owl"]), `${sql}.txt`);
    const { text } = await post("files", form, {});
    const { id } = JSON.parse(text);
    const q = encodeURIComponent(sql);
    for (const path of [
      `files?after=${q}`,
      `files?purpose=${q}`,
      `containers?name=${q}`,
      `files?order=${q}`,
    ])
      await get(path);
    await post("vector_stores", JSON.stringify({ name: sql, metadata: { [sql]: sql } }));
    const filters = { type: "eq", key: `${sql}" OR "a`, value: sql };
    await post(`vector_stores/${q}/search`, JSON.stringify({ query: `${sql} " NEAR(`, filters }));
    await post("conversations", JSON.stringify({ metadata: { [sql.slice(0, 60)]: sql } }));
    const found = await get(`files/${id}`);
    return { tried: 8, through: found.status === 200 ? faults.map(String) : [found.text] };
  },
);

attempt(
  own(
    "file names with line breaks, quotes and control characters split the headers of a download",
    "The name is cleaned and percent-encoded; the response has exactly its own headers and is a download, not a page.",
  ),
  async () => {
    const { get, port } = await startServerTarget();
    const names = [
      "a\r\nset-cookie: x=1\r\n\r\n<script>",
      'a"; filename="b.html',
      "a\u2028.html",
      "😀\u0000.html",
    ];
    const through: string[] = [];
    for (const name of names) {
      const encoded = encodeURIComponent(name);
      const part = `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--b\r\ncontent-disposition: form-data; name="file"; filename*=UTF-8''${encoded}\r\n\r\n<script>alert(1)</script>\r\n--b--\r\n`;
      const sent = formatRequest(
        "POST /v1/files",
        { "content-type": "multipart/form-data; boundary=b" },
        part,
      );
      const { text } = await sendRaw(port, sent);
      const id = /"id":"(file-[^"]+)"/.exec(text)?.[1];
      if (id === undefined) continue; // the form was refused
      const { headers } = await get(`files/${id}/content`);
      const isDownload = headers.get("content-disposition")?.startsWith("attachment;");
      const isSafe = headers.get("content-security-policy") === "sandbox";
      if (headers.has("set-cookie") || !isDownload || !isSafe) through.push(name);
    }
    return { tried: names.length, through };
  },
);
