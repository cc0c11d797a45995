import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelAction } from "../src/local/model-action.ts";
import { type ModelScript, scriptedModel } from "../src/local/models/scripted-model.ts";
import { LocalProvider } from "../src/local/provider.ts";
import { runAgent, startAgent } from "./support/agents/start-agent.ts";

let folder = "";
let provider: LocalProvider | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-agents-"));
});
afterEach(async () => {
  await provider?.close();
  provider = null;
  await rm(folder, { recursive: true });
});

/** Starts the API that an agent uses with `--live`. */
async function serve(
  script: ModelScript,
  options: { readonly web?: string } = {},
): Promise<{ readonly baseURL: string }> {
  provider = new LocalProvider({ model: scriptedModel(script), ...options });
  const { url } = await provider.listen();
  return { baseURL: url };
}

describe.each([
  ["data-analysis", ["--live", "/does/not/exist"], /ENOENT.*'\/does\/not\/exist'/],
  ["data-analysis", ["--live", "src/base"], /src\/base has no CSV files\./],
  ["data-analysis", ["examples/greenhouse"], /Add --live/],
  ["invoices", ["--live", "/does/not/exist"], /ENOENT.*'\/does\/not\/exist'/],
  ["invoices", ["examples/greenhouse"], /Add --live/],
  ["local-model", ["--live", "examples"], /examples is not a file\./],
  ["local-model", ["--live", "--context", "many"], /--context takes a number of tokens\./],
  ["log-triage", ["--live", "/does/not/exist"], /ENOENT.*'\/does\/not\/exist'/],
  ["log-triage", ["--live", "examples"], /EISDIR/],
  ["research", ["--live", "What", "is", "rye?"], /Put the question in quotes\./],
  ["terminal-chat", ["--session", "../other"], /--session takes letters, digits/],
] as const)("agent %s with the arguments %j", (name, args, problem) => {
  test("exits with 2, the problem and the usage", async () => {
    const { status, stdout, stderr, leftovers } = await runAgent(name, args);
    expect({ status, stdout, leftovers }).toEqual({ status: 2, stdout: "", leftovers: [] });
    expect(stderr).toMatch(problem);
    expect(stderr).toContain("\nUsage: node main.ts ");
  });
});

test.each(["data-analysis", "invoices", "log-triage", "research", "terminal-chat"])(
  "agent %s exits with 1 and the library's message without a key",
  async (name) => {
    const args = name === "terminal-chat" ? ["--live", "--store", folder] : ["--live"];
    const { status, stderr, leftovers } = await runAgent(name, args, { input: "Hello." });
    expect({ status, leftovers }).toEqual({ status: 1, leftovers: [] });
    expect(stderr).toContain("Set OPENAI_API_KEY or clientConfig.apiKey.");
  },
);

test("agent local-model exits with 1 and names a server that cannot be reached", async () => {
  const args = ["--live", "--base-url", "http://127.0.0.1:9/v1"];
  const { status, stderr, leftovers } = await runAgent("local-model", args);
  expect({ status, leftovers }).toEqual({ status: 1, leftovers: [] });
  expect(stderr).toContain("http://127.0.0.1:9/v1/chat/completions could not be reached");
});

test("agent data-analysis keeps the results of an interrupted run, and leaves the data as it was", async () => {
  const waiting = Promise.withResolvers<void>();
  const code = `import os
os.mkdir("/mnt/data/results")
open("/mnt/data/results/figures.csv", "w").write("rye,42\\n")
print(open("/mnt/data/data/sales.csv").read())`;
  const live = await serve(({ items }) => {
    if (!JSON.stringify(items).includes("os.mkdir")) return [{ code }];
    waiting.resolve();
    return [{ stall: 600_000 }];
  });
  await writeFile(join(folder, "sales.csv"), "bread,loaves\nrye,42\n");
  const out = join(folder, "out");
  const agent = await startAgent("data-analysis", ["--live", "--out", out, folder], live);
  await waiting.promise;
  agent.interrupt();
  const { status, stderr, leftovers } = await agent.ended;
  expect({ status, stderr, leftovers }).toEqual({
    status: 130,
    stderr: "Interrupted.\n",
    leftovers: [],
  });
  expect(await readFile(join(out, "results/figures.csv"), "utf8")).toBe("rye,42\n");
  expect(await readFile(join(folder, "sales.csv"), "utf8")).toBe("bread,loaves\nrye,42\n");
});

describe("agent invoices", () => {
  const invoice = {
    number: "1",
    supplier: "Mill",
    lines: [
      { text: "Flour", amount: 0.1 },
      { text: "Bags", amount: 0.2 },
    ],
    total: 0.3,
  };
  /** Answers with the invoice of a file, and with `null` for a letter. */
  const script = ({ text }: { readonly text: string }): readonly ModelAction[] =>
    text.includes("letter")
      ? [{ say: { invoice: null, problem: "It is a letter." } }]
      : [{ say: { invoice: { ...invoice, number: text.trim() }, problem: null } }];
  const readNumbers = async () => {
    const lines = (await readFile(join(folder, "invoices.jsonl"), "utf8")).trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line).number);
  };

  test("skips files of an earlier run, and tries broken files again", async () => {
    const live = await serve(script);
    await writeFile(join(folder, "a.txt"), "A-1");
    await writeFile(join(folder, "b.txt"), "a letter");
    await writeFile(join(folder, "c.txt"), Buffer.from([0, 1, 2]));
    const first = await runAgent("invoices", ["--live", folder], live);
    expect(first).toMatchObject({ status: 0, stderr: "", leftovers: [] });
    expect(first.stdout).toContain("b.txt: skipped. It is a letter.\n");
    expect(first.stdout).toContain("c.txt: skipped. It contains no text.\n");
    expect(first.stdout).toContain("1 new, 0 done before, 2 skipped\n");
    await writeFile(join(folder, "c.txt"), "C-3");
    await appendFile(join(folder, "invoices.jsonl"), '{"file":"c.t'); // as a killed process leaves it
    const second = await runAgent("invoices", ["--live", folder], live);
    expect(second.stdout).toContain("1 new, 1 done before, 1 skipped\n");
    expect(await readNumbers()).toEqual(["A-1", "C-3"]);
  });

  test("keeps the records of an interrupted run, and the next run continues", async () => {
    const waiting = Promise.withResolvers<void>();
    let isStalled = true;
    const live = await serve((request) => {
      if (!isStalled || !request.text.includes("B-2")) return script(request);
      waiting.resolve();
      return [{ stall: 600_000 }];
    });
    await writeFile(join(folder, "a.txt"), "A-1");
    await writeFile(join(folder, "b.txt"), "B-2");
    const agent = await startAgent("invoices", ["--live", folder], live);
    await waiting.promise;
    agent.interrupt();
    const { status, stderr, leftovers } = await agent.ended;
    expect({ status, leftovers }).toEqual({ status: 130, leftovers: [] });
    expect(stderr).toBe(
      "Interrupted.\nRecords so far are kept. The next run continues after them.\n",
    );
    expect(await readNumbers()).toEqual(["A-1"]);
    isStalled = false;
    const second = await runAgent("invoices", ["--live", folder], live);
    expect(second.stdout).toContain("1 new, 1 done before, 0 skipped\n");
    expect(await readNumbers()).toEqual(["A-1", "B-2"]);
  });
});

test("agent log-triage writes the tickets of an interrupted run", async () => {
  const waiting = Promise.withResolvers<void>();
  const ticket = { title: "Down", cause: "db", service: "shop", severity: "high", lines: [2] };
  const live = await serve(({ turn }) => {
    if (turn === 0) return [{ call: { name: "file_tickets", args: { tickets: [ticket] } } }];
    waiting.resolve();
    return [{ stall: 600_000 }];
  });
  const log = join(folder, "shop.log");
  const out = join(folder, "tickets.jsonl");
  await writeFile(log, "10:00 INFO shop open\n10:01 ERROR shop db is down\n");
  const agent = await startAgent("log-triage", ["--live", "--out", out, log], live);
  await waiting.promise;
  agent.interrupt();
  const { status, stdout, leftovers } = await agent.ended;
  expect({ status, leftovers }).toEqual({ status: 130, leftovers: [] });
  expect(stdout).toContain("[high] Down: lines 2\n");
  expect(JSON.parse(await readFile(out, "utf8"))).toEqual(ticket);
});

test("agent research prints the claims of an interrupted run", async () => {
  const waiting = Promise.withResolvers<void>();
  const args = { claim: "Rye is cheap.", url: "https://mill.example/prices.md?utm_source=openai" };
  await mkdir(join(folder, "mill.example"));
  await writeFile(join(folder, "mill.example/prices.md"), "# Prices\n\nRye is cheap.\n");
  const script: ModelScript = ({ turn }) => {
    if (turn === 0) return [{ search: { web: "rye" } }];
    if (turn === 1) return [{ call: { name: "record_claim", args } }];
    waiting.resolve();
    return [{ stall: 600_000 }];
  };
  const live = await serve(script, { web: folder });
  const agent = await startAgent("research", ["--live", "Is rye cheap?"], live);
  await waiting.promise;
  agent.interrupt();
  const { status, stdout, leftovers } = await agent.ended;
  expect({ status, leftovers }).toEqual({ status: 130, leftovers: [] });
  expect(stdout).toBe("- Rye is cheap. [1]\n[1] https://mill.example/prices.md\n");
});

describe("agent terminal-chat", () => {
  test("stops an answer on Ctrl-C and continues, and opens the session again in another process", async () => {
    const live = await serve(({ items, text }) => {
      if (text === "Tell me everything.")
        return [{ say: "It begins", everyMs: 20 }, { stall: 600_000 }];
      const messages = items.filter((item) => "role" in item && item.role === "user").length;
      return [{ say: `message ${messages}` }];
    });
    const args = ["--live", "--store", folder, "--session", "rye"];
    const agent = await startAgent("terminal-chat", args, live);
    agent.type("Hello.");
    await expect.poll(() => agent.printed).toContain("message 1\n");
    agent.type("Tell me everything.");
    await expect.poll(() => agent.printed).toContain("It begins");
    agent.interrupt();
    await expect.poll(() => agent.printed).toContain("[Stopped.");
    agent.type("/usage");
    await expect
      .poll(() => agent.printed)
      .toMatch(/\d+ tokens in \(\d+ from the cache\), \d+ out\n/);
    agent.type("/exit");
    expect(await agent.ended).toMatchObject({ status: 0, stderr: "", leftovers: [] });
    const again = await runAgent("terminal-chat", args, { ...live, input: "And now?" });
    expect(again).toMatchObject({ status: 0, stderr: "", leftovers: [] });
    expect(again.stdout).toBe('Continuing "rye".\nmessage 2\n');
  });
});
