/** Reviews 20 repositories on three workers, one of which is killed, and posts every comment once. */
// With WINK_POSTGRES, the URL of a database for tests, every worker is a process, and the tables stay in schemas
// named reviews_…. Without it, one process has all three workers, in a folder.
// needs: @electric-sql/pglite, pg, pg-boss
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePrompt, Tool, ToolResult } from "weakincentives";
import { AgentLoop, Fleet } from "weakincentives/fleet";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const isLive = process.argv.includes("--live"); // OpenAI's API answers: set OPENAI_API_KEY
const postgres = process.env["WINK_POSTGRES"];
const [role, given] = process.argv.slice(2).filter((one) => one !== "--live");
const folder = given ?? fs.mkdtempSync(join(tmpdir(), "reviews-"));
const schema = `reviews_${folder.slice(-6).toLowerCase()}`;

// A scripted model reads the source, posts a comment, and answers.
const provider = new LocalProvider({
  model: scriptedModel(({ items }) => {
    const results = items.filter((item) => Object(item).type === "function_call_output").length;
    if (results === 0) return [{ call: { name: "read_source", args: {} } }];
    if (results === 1) return [{ call: { name: "post_comment", args: { text: "Add a test." } } }];
    return [{ say: "One comment." }];
  }),
});
const clientConfig = isLive ? {} : { fetch: provider.fetch };

const review = new AgentLoop({
  name: "review",
  request: z.object({ repo: z.string() }),
  prepare: ({ repo }, { attempt }) =>
    definePrompt({
      name: "review",
      instructions: "Read the source, and post your review as one comment.",
      tools: createTools(repo, attempt),
    }),
  adapter: () => new OpenAIAdapter({ model: "gpt-5.2", clientConfig }),
  limits: { deadlineMs: 10 * 60_000 },
});

function createTools(repo: string, attempt: number) {
  const readSource = new Tool({
    name: "read_source",
    description: "Reads the source of the repository.",
    params: null,
    effects: "none", // may run again after a crash
    handler: () => ToolResult.ok(null, fs.readFileSync(join(folder, `${repo}.py`), "utf8")),
  });
  const postComment = new Tool({
    name: "post_comment",
    description: "Posts a comment on the repository.",
    params: z.strictObject({ text: z.string() }),
    effects: "once", // the default: a call is never started twice
    handler: () => {
      writeLine("comments", repo); // instead of a request to a forge
      if (repo === "repo-07" && attempt === 1) process.kill(process.pid, "SIGKILL");
      return ToolResult.ok(null, "Posted.");
    },
    // The worker was lost during the call: was the comment posted?
    reconcile: async () => {
      const isPosted = readLines("comments").includes(repo);
      writeLine("lookups", `${repo} ${isPosted ? "was" : "was not"} posted`);
      return isPosted ? ToolResult.ok(null, "Posted.") : "not-started";
    },
  });
  return [readSource, postComment];
}

await (role === "work" ? work() : enqueueAndSupervise());

/** Enqueues the reviews, starts the workers' processes, and prints a summary. */
async function enqueueAndSupervise(): Promise<void> {
  const repos = Array.from({ length: 20 }, (_, n) => `repo-${String(n + 1).padStart(2, "0")}`);
  const before = await openFleet();
  for (const repo of repos) {
    fs.writeFileSync(join(folder, `${repo}.py`), "def add(a, b):\n    return a - b\n");
    await before.enqueue(review, { repo }, { key: repo });
  }
  await before.close(); // one process at a time can open a folder
  await Promise.all(Array.from({ length: postgres ? 3 : 1 }, supervise));
  const after = await openFleet();
  let done = 0;
  for await (const _run of after.runs({ state: "done" })) done++;
  const comments = readLines("comments");
  console.log(readLines("lookups").find((line) => line.startsWith("repo-07")));
  console.log(`${done} reviews, ${comments.length} comments on ${new Set(comments).size} repos`);
  await after.close();
  fs.rmSync(folder, { recursive: true });
}

/** Runs a process with workers, and another one if it is killed. */
async function supervise(): Promise<void> {
  const args = [...process.execArgv, process.argv[1] ?? "", "work", folder];
  if (isLive) args.push("--live");
  const [, signal] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit");
  if (signal === null) return;
  console.log(`A process ended: ${signal}`);
  await supervise();
}

/** Runs reviews until all of them are done. */
async function work(): Promise<void> {
  const fleet = await openFleet();
  const stop = new AbortController();
  const workers = Array.from({ length: postgres ? 1 : 3 }, () =>
    fleet.worker([review], { concurrency: 2 }).run({ signal: stop.signal }),
  );
  for await (const { id } of fleet.runs()) await fleet.result(id);
  stop.abort();
  await Promise.all(workers);
  await fleet.close();
  await provider.close();
}

function openFleet(): Promise<Fleet> {
  const filesFolder = join(folder, "files");
  return Fleet.open(postgres ? { postgres, schema, filesFolder } : { folder, filesFolder });
}

function writeLine(name: string, line: string): void {
  fs.appendFileSync(join(folder, `${name}.txt`), `${line}\n`);
}

function readLines(name: string): readonly string[] {
  const path = join(folder, `${name}.txt`);
  return fs.existsSync(path) ? fs.readFileSync(path, "utf8").trim().split("\n") : [];
}
// prints: A process ended: SIGKILL
// prints: repo-07 was posted
// prints: 20 reviews, 20 comments on 20 repos
