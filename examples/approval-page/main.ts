/** Asks on a web page before it deploys: the process that asks is killed, and another one finishes after the click. */
// `--serve` leaves the click to you. With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
// needs: hono
// needs: @hono/node-server
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { readWaiting, runAgent } from "./agent.ts";
import { createApprovalApp } from "./approval-app.ts";

const [role, folder = ""] = process.argv.slice(2).filter((one) => !one.startsWith("--"));
await (role === "ask" ? ask() : release());

/** The first process: works until a person is needed, and is killed. */
async function ask(): Promise<void> {
  await runAgent(folder);
  for (const { name } of readWaiting(folder)) console.log(`A call to ${name} waits for approval.`);
  process.kill(process.pid, "SIGKILL");
}

/** The second process: serves the page, and continues the agent after the click. */
async function release(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  writeFileSync(join(folder, "task.txt"), "Deploy 2.0.1, which makes <b>bold</b> text bold.");
  const flags = process.argv.filter((one) => one === "--live");
  const args = [...process.execArgv, process.argv[1] ?? "", "ask", folder, ...flags];
  const [, signal] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit");
  console.log(`The process that asked ended: ${signal}`);

  const { app, path } = createApprovalApp(folder);
  const isServing = process.argv.includes("--serve");
  const port = isServing ? Number(process.env["PORT"] ?? 3000) : 0;
  const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });
  await once(server, "listening");
  const url = `http://127.0.0.1:${Object(server.address()).port}${path}`;
  if (isServing) return console.log(url);

  // Click as a browser does.
  const [, key = ""] = /name="key" value="([^"]+)"/.exec(await (await fetch(url)).text()) ?? [];
  const body = new URLSearchParams({ key, decision: "approve" });
  const headers = { "sec-fetch-site": "same-origin" };
  const page = await (await fetch(url, { method: "POST", body, headers })).text();
  console.log(/<p id="answer">(.*?)<\/p>/s.exec(page)?.[1]);
  console.log(`Deployed: ${readFileSync(join(folder, "deployed.txt"), "utf8").trim()}`);
  server.close();
  rmSync(folder, { recursive: true });
}
// prints: A call to deploy waits for approval.
// prints: The process that asked ended: SIGKILL
// prints: I read: Deployed 2.0.1.
// prints: Deployed: 2.0.1
