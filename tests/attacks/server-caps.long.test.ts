import { expect, onTestFinished } from "vitest";
import { LocalProvider, type Sandbox, scriptedModel } from "weakincentives/local";
import { attempt } from "../support/attacks/attempt.ts";
import { hostSandbox } from "../support/host-sandbox.ts";
import { startLocalStorage } from "../support/local-storage.ts";

const PYTHON = { type: "code_interpreter", container: { type: "auto" } };

/** A sandbox that counts its open processes. Its code prints nothing. */
function createCountingSandbox() {
  const seen = { open: 0, most: 0, memory: [] as number[] };
  const sandbox: Sandbox = {
    ...hostSandbox(),
    async open({ memoryBytes }) {
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      seen.memory.push(memoryBytes);
      const shared = { stdout: "", stderr: "", timedOut: false, truncated: false };
      return {
        python: async () => ({ ...shared, error: null, images: [], died: false }),
        shell: async () => ({ ...shared, exitCode: 0 }),
        async [Symbol.asyncDispose]() {
          seen.open -= 1;
        },
      };
    },
  };
  return { sandbox, seen };
}

async function ask(provider: LocalProvider, path: string, body: object) {
  const init = { method: "POST", body: JSON.stringify(body) };
  const response = await provider.fetch(`http://local/v1/${path}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const runsCode = () =>
  scriptedModel(({ items }) => (items.length > 1 ? [{ say: "Done." }] : [{ code: "x = 1" }]));

attempt(
  {
    finding: "C9",
    surface: "server",
    tries: "500 evaluations, 20 at a time, each leave an interpreter behind",
    shows:
      "At most limits.maxInterpreters are open; the least recently used idle one is ended and keeps its files.",
  },
  async () => {
    const { sandbox, seen } = createCountingSandbox();
    await using api = await startLocalStorage({ sandbox, limits: { maxInterpreters: 8 } });
    const limits = { timeoutMs: 5_000, maxOutputBytes: 1_000 };
    const evaluate = async () => {
      const { id } = await api.containers.create({ name: "auto" });
      await api.containers.python(id, "x = 1", limits);
    };
    for (let round = 0; round < 25; round++)
      await Promise.all(Array.from({ length: 20 }, () => evaluate()));
    const through = seen.most > 8 || seen.open > 8 ? [`${seen.most} open interpreters`] : [];
    return { tried: 500, through };
  },
  { timeout: 60_000 },
);

attempt(
  {
    finding: "C9",
    surface: "server",
    tries: "a container asks for 64g of memory on a machine with less",
    shows: "The limit is reduced to what the machine has, as a response header and a warning say.",
  },
  async () => {
    const { sandbox, seen } = createCountingSandbox();
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    await using provider = new LocalProvider({ sandbox, model: runsCode() });
    const created = await ask(provider, "containers", { name: "a", memory_limit: "64g" });
    const container = { type: "auto", memory_limit: "64g" };
    const tools = [{ type: "code_interpreter", container }];
    const turn = await ask(provider, "responses", { model: "any", input: "Run it.", tools });
    expect(turn).toMatchObject({ status: 200 });
    const [given = 0] = seen.memory;
    const isReported =
      created.headers.has("x-wink-memory-limit") && warnings.some((one) => one.includes("64g"));
    const hasSo = given < 64 * 2 ** 30;
    const through = hasSo && given > process.availableMemory() ? [`given ${given}`] : [];
    return { through: hasSo && !isReported ? [...through, "not reported"] : through };
  },
);

attempt(
  {
    finding: "C9",
    surface: "server",
    tries: "thousands of containers, and files without end, are created over the API",
    shows:
      "limits.maxContainers answers 429 and limits.maxStoredBytes answers 400, each with the remedy.",
  },
  async () => {
    const { sandbox } = createCountingSandbox();
    const limits = { maxContainers: 50, maxStoredBytes: 10_000 };
    await using provider = new LocalProvider({ sandbox, limits });
    let containers = 0;
    let stored = 0;
    for (let count = 0; count < 200; count++) {
      if ((await ask(provider, "containers", { name: "a" })).status === 200) containers += 1;
      const form = new FormData();
      form.append("purpose", "user_data");
      form.append("file", new Blob(["x".repeat(1_000)]), "a.txt");
      const response = await provider.fetch("http://local/v1/files", {
        method: "POST",
        body: form,
      });
      if (response.status === 200) stored += 1_000;
    }
    const through = [];
    if (containers > 50) through.push(`${containers} containers`);
    if (stored > 10_000) through.push(`${stored} bytes`);
    return { tried: 400, through };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "a client fills all interpreter slots with endless code and waits for others to give up",
    shows:
      "Runs end at their time limit, waiting runs start as soon as one is idle, and a canceled one leaves the queue.",
  },
  async () => {
    const order: string[] = [];
    const model = scriptedModel(({ items, text }) =>
      items.length > 1
        ? [{ say: "Done." }]
        : [{ code: text === "Endless." ? "import time\ntime.sleep(60)" : "print(1)" }],
    );
    await using provider = new LocalProvider({
      sandbox: hostSandbox(),
      model,
      limits: { maxInterpreters: 2, runTimeoutMs: 1_000 },
    });
    const turn = (input: string) => ({ model: "any", input, tools: [PYTHON] });
    const endless = [1, 2].map(() => ask(provider, "responses", turn("Endless.")));
    const leaving = new AbortController();
    const left = provider
      .fetch("http://local/v1/responses", {
        method: "POST",
        body: JSON.stringify(turn("Left.")),
        signal: leaving.signal,
      })
      .catch(() => order.push("left"));
    const waiting = ["a", "b", "c"].map(async (name) => {
      const { status } = await ask(provider, "responses", turn(name));
      order.push(`${name} ${status}`);
    });
    setTimeout(() => leaving.abort(), 100);
    const started = performance.now();
    await Promise.all([...endless, left, ...waiting]);
    const elapsed = performance.now() - started;
    const isFair = order.toSorted().join() === "a 200,b 200,c 200,left";
    return { tried: 6, through: isFair && elapsed < 15_000 ? [] : [`${order} ${elapsed}`] };
  },
  { timeout: 30_000 },
);
