/** Asks on a web page before it deploys, is killed while it waits, and finishes after the click. */
// `--serve FOLDER` leaves the kill and the click to you. `--live` needs OPENAI_API_KEY.
// needs: hono, @hono/node-server
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { html } from "hono/html";
import { secureHeaders } from "hono/secure-headers";
import { definePrompt, EvaluationParkedError, Session, Tool, ToolResult } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { type ScriptStep, scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const args = process.argv.slice(2).filter((one) => one !== "--live");
const [mode, folder = `release-${crypto.randomUUID()}`, input = "2.0.1"] = args;
const deploy = new Tool({
  name: "deploy",
  description: "Deploys a version.", // console.log stands for the deployment
  params: z.strictObject({ version: z.string() }),
  needsApproval: true,
  handler: ({ version }) => ToolResult.ok(console.log(`Deployed ${version}`), "It is deployed."),
});
const agent = definePrompt({ name: "ops", instructions: "Deploy the version.", tools: [deploy] });
const toolCalls = [{ name: "deploy", arguments: { version: input } }];
const model: ScriptStep = ({ answers: [reply] }) => (reply ? { text: reply.text } : { toolCalls });
const isLive = process.argv.includes("--live");
const adapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : scriptedClient(model, model);
const session = await Session.openOrCreate(new JsonlSessionStore(folder), "release");
const app = new Hono().use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'none'"] } }));
const path = `/${crypto.randomUUID()}`; // everyone with the URL may decide
app.on(["GET", "POST"], path, async (context) => {
  const isOwnPage = context.req.header("sec-fetch-site") === "same-origin"; // set by the browser
  const approvals = isOwnPage ? Object(await context.req.parseBody()) : {}; // evaluate checks them
  const options = { session, input, resume: true, approvals, approve: async () => "park" as const };
  const content = await adapter.evaluate(agent, options).then(({ text }) => text, showWaiting);
  if (context.req.method === "POST") return context.redirect(path, 303);
  return context.html(html`<!doctype html><title>Approvals</title><main>${content}</main>`);
});
function showWaiting(error: unknown) {
  if (!(error instanceof EvaluationParkedError)) throw error;
  return error.approvals.map(
    ({ key, name, params }) => html`<form method="post"><h1>May ${name} run?</h1>
  <pre wrap>${JSON.stringify(params, null, 2).replaceAll(/[^\P{C}\n]/gu, encodeURIComponent)}</pre>
  <button name="${key}" value="approve">Approve</button>
  <button name="${key}" value="deny">Deny</button></form>`,
  );
}
const child = [import.meta.filename, "--serve", folder, ...process.argv.slice(2)];
if (!mode) spawnSync(process.execPath, child, { timeout: 2000, killSignal: "SIGKILL" });
const page = await (await app.request(path)).text(); // starts the release, or continues it
const server = { fetch: app.fetch, port: 0, hostname: "127.0.0.1" };
if (mode) serve(server, ({ port }) => console.log(`http://127.0.0.1:${port}${path}`));
else {
  const body = new URLSearchParams({ [/name="(.+?)"/.exec(page)?.[1] ?? ""]: "approve" });
  await app.request(path, { method: "POST", body, headers: { "sec-fetch-site": "same-origin" } });
  rmSync(folder, { recursive: true });
}
// prints: Deployed 2.0.1
