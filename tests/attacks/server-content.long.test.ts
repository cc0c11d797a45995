import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { expect, onTestFinished } from "vitest";
import { type LocalModel, LocalProvider } from "weakincentives/local";
import { attempt } from "../support/attacks/attempt.ts";
import { formatRequest, sendRaw } from "../support/attacks/send-raw.ts";
import { startServerTarget, TURN } from "../support/attacks/server-target.ts";

const own = (tries: string, shows: string) => ({ finding: "own", surface: "server", tries, shows });

/** Starts a server that counts its connections. */
async function startTrap(): Promise<{
  readonly port: number;
  readonly server: Server;
  hits: number;
}> {
  const server = createServer((_request, response) => response.end("secret"));
  const trap = { port: 0, server, hits: 0 };
  server.on("connection", () => {
    trap.hits += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return Object.assign(trap, { port: Number(Object(server.address()).port) });
}

attempt(
  own(
    "images, files, MCP servers and web pages with URLs of internal services make the server connect to them (SSRF)",
    "The server opens no connection for any URL in a request: it has only the pages of its web folder.",
  ),
  async () => {
    const trap = await startTrap();
    const at = `http://127.0.0.1:${trap.port}/latest/meta-data`;
    const model: LocalModel = {
      respond: async ({ items }) =>
        items.length > 1 ? [{ say: "Done." }] : [{ search: { open: at } }],
    };
    const { post } = await startServerTarget({ model, web: "examples" });
    const ask = (content: object, tools: object[] = []) =>
      post(
        "responses",
        JSON.stringify({ model: "any", input: [{ role: "user", content: [content] }], tools }),
      );
    await ask({ type: "input_image", image_url: at });
    await ask({ type: "input_image", image_url: "file:///etc/passwd" });
    await ask({ type: "input_file", file_url: at });
    const opened = await ask({ type: "input_text", text: "Open it." }, [{ type: "web_search" }]);
    await ask({ type: "input_text", text: "x" }, [
      { type: "mcp", server_label: "a", server_url: at },
    ]);
    const source = { type: "url", url: at };
    const messages = [
      {
        role: "user",
        content: [
          { type: "image", source },
          { type: "document", source },
        ],
      },
    ];
    await post("messages", JSON.stringify({ model: "any", max_tokens: 9, messages }));
    const through = opened.text.includes("secret") ? ["the page was read"] : [];
    return {
      tried: 6,
      through: trap.hits === 0 ? through : [...through, `${trap.hits} connections`],
    };
  },
);

attempt(
  own(
    "paths, queries and header values that make regular expressions backtrack",
    "Each is answered in less than half a second.",
  ),
  async () => {
    const { port } = await startServerTarget();
    const long = "a".repeat(12_000);
    const requests = [
      formatRequest(`GET /v1/${"a/".repeat(6_000)}`),
      formatRequest(`GET /v1/files?${"a=1&".repeat(3_000)}`),
      formatRequest(`GET /v1/files?limit=${"1".repeat(12_000)}`),
      formatRequest("GET /v1/models", { authorization: `Bearer${" ".repeat(12_000)}x` }),
      formatRequest("GET /v1/models", { host: `${"a.".repeat(6_000)}!` }),
      formatRequest("GET /v1/models", { origin: `http://${long}` }),
      formatRequest(
        "POST /v1/responses",
        { "content-type": `application/${"a".repeat(12_000)}` },
        TURN,
      ),
      formatRequest(
        "POST /v1/files",
        { "content-type": `multipart/form-data;${" ".repeat(12_000)}boundary` },
        "x",
      ),
      formatRequest("GET /v1/responses", { "anthropic-beta": `${"a,".repeat(6_000)}` }),
    ];
    const through: string[] = [];
    for (const one of requests) {
      const started = performance.now();
      await sendRaw(port, one);
      const elapsed = performance.now() - started;
      if (elapsed > 500) through.push(`${one.slice(0, 50)} ${elapsed}`);
    }
    return { tried: requests.length, through };
  },
);

attempt(
  own(
    "text that is not UTF-8, lone surrogates, null characters and a byte order mark in every text field",
    "The texts are answered or refused; no request is an error of the server.",
  ),
  async () => {
    const { post, faults } = await startServerTarget();
    const texts = [
      "\ud800",
      "\udfff\ud800",
      "\u0000",
      "\ufeff",
      "\uffff\ufffe",
      "a\u0000b".repeat(100),
    ];
    const through: string[] = [];
    for (const text of texts)
      for (const [path, body] of [
        ["responses", { model: text, input: text, instructions: text, metadata: { a: text } }],
        ["chat/completions", { model: "any", messages: [{ role: "user", content: text }] }],
        [
          "messages",
          { model: text, max_tokens: 9, system: text, messages: [{ role: "user", content: text }] },
        ],
        ["containers", { name: text }],
        ["vector_stores", { name: text }],
        ["conversations", { metadata: { a: text } }],
      ] as const) {
        const { status } = await post(path, JSON.stringify(body));
        if (status >= 500) through.push(`${path} ${JSON.stringify(text)}`);
      }
    const invalid = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d]);
    const { status } = await post("responses", invalid);
    if (status !== 400) through.push("invalid UTF-8");
    return { tried: 6 * texts.length + 1, through: [...through, ...faults.map(String)] };
  },
);

/** A generator of numbers from 0 to 1 that gives the same ones in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

attempt(
  own(
    "2,000 requests with random values, types and missing fields, on every route that takes JSON",
    "Every answer is below 500, and no error is reported as the server's own.",
  ),
  async () => {
    const { provider, faults } = await startServerTarget();
    const random = createRandom(19);
    const pick = <Value>(list: readonly Value[]): Value =>
      list[Math.floor(random() * list.length)] as Value;
    const scalars = [
      null,
      true,
      -1,
      0,
      1e308,
      1.5,
      "",
      "x",
      "auto",
      "file-1",
      "resp_1",
      [],
      {},
      "\u0000",
    ];
    const keys = [
      ...[
        "model",
        "input",
        "messages",
        "tools",
        "type",
        "role",
        "content",
        "name",
        "metadata",
        "max_tokens",
      ],
      ...[
        "tool_choice",
        "text",
        "format",
        "previous_response_id",
        "conversation",
        "include",
        "stream",
        "container",
      ],
      ...[
        "file_ids",
        "parameters",
        "limit",
        "purpose",
        "bytes",
        "filename",
        "query",
        "filters",
        "items",
        "id",
      ],
    ];
    const types = [
      "message",
      "function",
      "code_interpreter",
      "web_search",
      "input_text",
      "function_call",
      "reasoning",
    ];
    const createValue = (depth: number): unknown => {
      if (depth === 0 || random() < 0.4) return pick(scalars);
      if (random() < 0.3)
        return Array.from({ length: Math.floor(random() * 4) }, () => createValue(depth - 1));
      const entries = Array.from({ length: Math.floor(random() * 5) }, () => [
        pick(keys),
        createValue(depth - 1),
      ]);
      return { ...Object.fromEntries(entries), ...(random() < 0.5 && { type: pick(types) }) };
    };
    const routes = [
      "responses",
      "responses/compact",
      "responses/input_tokens",
      "chat/completions",
      "messages",
    ].concat([
      "messages/count_tokens",
      "containers",
      "conversations",
      "vector_stores",
      "uploads",
      "vector_stores/vs_1/search",
    ]);
    const through: string[] = [];
    for (let at = 0; at < 2_000; at++) {
      const route = pick(routes);
      const base = {
        model: "any",
        input: "x",
        messages: [{ role: "user", content: "x" }],
        max_tokens: 5,
      };
      const body = random() < 0.5 ? { ...base, ...Object(createValue(4)) } : createValue(5);
      const text = JSON.stringify(body);
      const response = await provider.fetch(`http://local/v1/${route}`, {
        method: "POST",
        body: text,
      });
      await response.text();
      if (response.status >= 500) through.push(`${route} ${response.status} ${text.slice(0, 300)}`);
    }
    return { tried: 2_000, through: [...through, ...faults.map(String)] };
  },
  { timeout: 120_000 },
);

attempt(
  {
    finding: "C10",
    surface: "server",
    tries:
      "a model answers with actions without a search, of wrong types, with cycles, getters and proxies that throw",
    shows:
      "The turn fails with an error that names the step, the action and its field, and clients do not retry it.",
  },
  async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const throwing = {
      get say() {
        throw new Error("boom");
      },
    };
    const answers: readonly unknown[] = [
      [{}],
      [{ search: undefined }],
      [{ search: {} }],
      [{ search: { web: undefined } }],
      [{ searhc: "x" }],
      undefined,
      "x",
      [null],
      [{ code: 7 }],
      [{ say: cycle }],
      [throwing],
      [{ use: { kind: "web_search" } }],
      [{ use: { kind: "web_search", args: {} } }],
      [
        new Proxy(
          {},
          {
            ownKeys() {
              throw new Error("boom");
            },
          },
        ),
      ],
    ];
    const through: string[] = [];
    for (const answer of answers) {
      const model: LocalModel = { respond: async () => answer as never };
      const { post } = await startServerTarget({ model, web: "examples" });
      const tools = [{ type: "web_search" }];
      const { text, headers } = await post(
        "responses",
        JSON.stringify({ model: "any", input: "x", tools }),
      );
      const isNamed = /Step 1 failed: the model('s answer| used the tool)/.test(text);
      if (!isNamed || headers.get("x-should-retry") !== "false") through.push(text.slice(0, 300));
    }
    return { tried: answers.length, through };
  },
);

attempt(
  own(
    "400 background responses that never end are started and left",
    "At most 256 run at once; more are a 429 until one ends or is canceled.",
  ),
  async () => {
    const model: LocalModel = {
      respond: (_request, options) =>
        new Promise((_resolve, reject) => {
          options?.signal?.addEventListener("abort", () => reject(options.signal?.reason));
        }),
    };
    const { post } = await startServerTarget({ model });
    const body = JSON.stringify({ model: "any", input: "Hi.", background: true });
    let started = 0;
    let refused = 0;
    for (let at = 0; at < 400; at++) {
      const { status } = await post("responses", body);
      if (status === 200) started += 1;
      if (status === 429) refused += 1;
    }
    const isLimited = started <= 256 && started + refused === 400;
    return { tried: 400, through: isLimited ? [] : [`${started} started, ${refused} refused`] };
  },
);

attempt(
  own(
    "options that would let every page or host in: wildcards, null, patterns and empty names",
    "They are refused when the provider is created; the way to allow everyone is a key.",
  ),
  async () => {
    const through: string[] = [];
    const values = ["*", "", "http://*", "*.example", "http://a.test/x", " "];
    const all = values.flatMap((value) => [{ allowedOrigins: [value] }, { allowedHosts: [value] }]);
    for (const options of [...all, { allowedOrigins: ["null"] }]) {
      try {
        await new LocalProvider(options)[Symbol.asyncDispose]();
        through.push(JSON.stringify(options));
      } catch (error) {
        expect(error).toMatchObject({ name: "InvalidOptionError" });
      }
    }
    return { tried: all.length + 1, through };
  },
);
