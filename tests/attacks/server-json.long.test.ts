import { once } from "node:events";
import { onTestFinished } from "vitest";
import { LocalProvider, scriptedModel, upstreamModel } from "weakincentives/local";
import { WebSocket } from "ws";
import { attempt } from "../support/attacks/attempt.ts";
import { hostSandbox } from "../support/host-sandbox.ts";

const MANY_KEYS = `{${Array.from({ length: 3_000_000 }, (_, place) => `"k${place}":1`).join()}}`;
const MANY_OBJECTS = `[${Array.from({ length: 3_000_000 }, (_, place) => `{"k${place}":1}`).join()}]`;
const SOME_KEYS = `${MANY_KEYS.slice(0, 12_000_000)}0}`;
const MANY_VALUES = `[${"0,".repeat(10_000_000)}0]`;
const DEEP_ARRAY = "[".repeat(5_000_000);
const DEEP_OBJECT = '{"a":'.repeat(1_000_000);
const BOMBS = { MANY_KEYS, MANY_OBJECTS, MANY_VALUES, DEEP_ARRAY, DEEP_OBJECT };

/** Unbounded, these took 12 to 20 seconds. The clients run in the same process, on a machine that runs other tests. */
const MAX_BLOCK_MS = 3_000;

const ROUTES = [
  "responses",
  "responses/compact",
  "responses/input_tokens",
  "chat/completions",
  "messages",
  "messages/count_tokens",
  "containers",
  "conversations",
  "vector_stores",
  "uploads",
];

async function startTarget() {
  const faults: unknown[] = [];
  const provider = new LocalProvider({
    sandbox: hostSandbox(),
    onFault: (error) => void faults.push(error),
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  return { url, faults };
}

/** Returns the longest time that this process was blocked while `work` ran. */
async function measureBlock(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await work();
  clearInterval(timer);
  return Math.max(longest, performance.now() - last);
}

async function post(url: string, body: string) {
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
}

attempt(
  {
    finding: "C10",
    surface: "server",
    tries: "JSON with millions of keys, objects or values blocks the server",
    shows: "Keys and values are counted before the text is parsed: 400 in a fraction of a second.",
  },
  async () => {
    const { url } = await startTarget();
    const through: string[] = [];
    let tried = 0;
    for (const route of ROUTES)
      for (const name of ["MANY_KEYS", "MANY_OBJECTS", "MANY_VALUES"] as const) {
        if (name !== "MANY_KEYS" && route !== "responses") continue;
        tried += 1;
        let status = 0;
        const blocked = await measureBlock(async () => {
          ({ status } = await post(`${url}/${route}`, BOMBS[name]));
        });
        if (![400, 413].includes(status) || blocked > MAX_BLOCK_MS)
          through.push(`${route} ${name} ${status} ${blocked}`);
      }
    return { tried, through };
  },
  { timeout: 120_000 },
);

attempt(
  {
    finding: "C10",
    surface: "server",
    tries:
      "JSON that is nested millions of levels deep, in a body or in a field that allows any value",
    shows: "Every route answers 400, and no error is reported as the server's own.",
  },
  async () => {
    const { url, faults } = await startTarget();
    const through: string[] = [];
    let tried = 0;
    for (const route of ROUTES) {
      const nested = `${'{"a":'.repeat(999)}1${"}".repeat(999)}`;
      const bodies = [
        DEEP_ARRAY,
        DEEP_OBJECT,
        `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
        nested,
        `{"model":"any","input":[${nested}]}`,
        `{"model":"any","input":"x","tools":[{"type":"function","name":"f","parameters":${nested.slice(10, -2)}}]}`,
        `{"model":"any","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{"type":"object","properties":${nested.slice(20, -4)}}}]}`,
        `{"name":"x","metadata":${nested.slice(10, -2)}}`,
      ];
      for (const body of bodies) {
        tried += 1;
        const { status, text } = await post(`${url}/${route}`, body);
        if (status >= 500)
          through.push(`${route} ${status} ${text.slice(0, 200)} ${body.slice(0, 60)}`);
      }
    }
    return { tried, through: [...through, ...faults.map(String)] };
  },
  { timeout: 120_000 },
);

attempt(
  {
    finding: "C10",
    surface: "server",
    tries: "the same JSON bombs as WebSocket messages",
    shows: "Each one is an error event, and the connection and the server stay responsive.",
  },
  async () => {
    const { url } = await startTarget();
    const socket = new WebSocket(`${url.replace("http", "ws")}/responses`);
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const through: string[] = [];
    for (const [name, bomb] of Object.entries(BOMBS)) {
      let text = "";
      const blocked = await measureBlock(async () => {
        socket.send(bomb);
        text = String((await once(socket, "message"))[0]);
      });
      if (!text.includes('"status":400') || blocked > MAX_BLOCK_MS)
        through.push(`${name} ${blocked} ${text.slice(0, 200)}`);
    }
    return { tried: Object.keys(BOMBS).length, through };
  },
  { timeout: 60_000 },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries:
      "an upstream model answers with a JSON bomb, as its answer or as the arguments of a call",
    shows: "The answer is bounded like a request: the turn fails, and the server is not blocked.",
  },
  async () => {
    const through: string[] = [];
    const call = (args: string) =>
      JSON.stringify({
        choices: [
          {
            message: {
              role: "assistant",
              tool_calls: [
                { id: "c", type: "function", function: { name: "python", arguments: args } },
              ],
            },
          },
        ],
      });
    for (const answer of [
      MANY_KEYS,
      SOME_KEYS,
      DEEP_ARRAY,
      call(MANY_KEYS),
      call(SOME_KEYS),
      call(DEEP_OBJECT),
    ]) {
      const model = upstreamModel({
        baseURL: "http://127.0.0.1:1/v1",
        model: "m",
        fetch: async () =>
          new Response(answer, { headers: { "content-type": "application/json" } }),
      } as Parameters<typeof upstreamModel>[0]);
      const provider = new LocalProvider({
        model,
        sandbox: hostSandbox(),
        onFault: () => undefined,
      });
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const { url } = await provider.listen();
      const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
      let status = 0;
      const blocked = await measureBlock(async () => {
        ({ status } = await post(
          `${url}/responses`,
          JSON.stringify({ model: "any", input: "Hi.", tools }),
        ));
      });
      if (status < 400 || blocked > 2 * MAX_BLOCK_MS)
        through.push(`${answer.slice(0, 99)} ${status} ${blocked}`);
    }
    return { tried: 6, through };
  },
  { timeout: 60_000 },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries:
      "keys such as __proto__ and constructor in every JSON route and in forms change objects of the process",
    shows: "They are unknown parameters like any others; no prototype has a new property.",
  },
  async () => {
    const { url } = await startTarget();
    const pollution = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
    const through: string[] = [];
    for (const route of ROUTES)
      for (const body of [
        `{${pollution}}`,
        `{"model":"any","input":"x","metadata":{${pollution}},${pollution}}`,
        `{"model":"any","input":"x","metadata":{"__proto__":"x"},"tools":[{"type":"function","name":"__proto__","parameters":{"type":"object","properties":{${pollution}}}}]}`,
      ]) {
        await post(`${url}/${route}`, body);
        if (Reflect.get({}, "polluted") !== undefined) through.push(route);
      }
    for (const name of ["__proto__", "constructor", "__proto__[polluted]"]) {
      const form = new FormData();
      form.append("purpose", "user_data");
      form.append(name, "1");
      form.append("file", new Blob(["x"]), "__proto__");
      await fetch(`${url}/files`, { method: "POST", body: form });
      await fetch(`${url}/files?${name}=1`);
      if (Reflect.get({}, "polluted") !== undefined) through.push(name);
    }
    return { tried: 3 * ROUTES.length + 3, through };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries:
      "a function call with deeply nested arguments is echoed to the next turn, compacted and listed",
    shows: "Arguments are text: they are stored, listed and compacted without being parsed.",
  },
  async () => {
    const args = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const faults: unknown[] = [];
    const model = scriptedModel(({ items }) =>
      items.length === 1 ? [{ call: { name: "f", args } }] : [{ say: "Done." }],
    );
    const provider = new LocalProvider({ model, onFault: (error) => void faults.push(error) });
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const { url } = await provider.listen();
    const tools = [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }];
    const through: string[] = [];
    const ask = async (path: string, body: object) => {
      const { status, text } = await post(`${url}/${path}`, JSON.stringify(body));
      if (status >= 500) through.push(text.slice(0, 200));
      return status === 200 ? JSON.parse(text) : {};
    };
    const first = await ask("responses", { model: "any", input: "Hi.", tools });
    const output = {
      type: "function_call_output",
      call_id: first.output?.[0]?.call_id,
      output: args,
    };
    const next = { model: "any", input: [output], previous_response_id: first.id };
    const second = await ask("responses", { ...next, tools });
    await ask("responses/compact", { model: "any", previous_response_id: second.id });
    const message = { role: "user", content: args };
    await ask("messages/count_tokens", { model: "any", messages: [message] });
    return { tried: 4, through: [...through, ...faults.map(String)] };
  },
);
