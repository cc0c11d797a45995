/**
 * Starts or continues a run with a workspace on one machine, and kills itself at the ordered barrier:
 * `node tests/support/fleet/machine-main.ts ORDER`, where ORDER is a `MachineOrder` as JSON.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NestedOptions } from "../../../src/adapter/nested-adapter.ts";
import { onBarrier } from "../../../src/adapter/resume/barrier.ts";
import { PostgresBlobStore } from "../../../src/fleet/workspace/postgres-blob-store.ts";
import { RunFolder } from "../../../src/fleet/workspace/run-folder.ts";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "../../../src/index.ts";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "../../../src/openai/index.ts";
import { PostgresSessionStore } from "../../../src/stores/index.ts";
import { createBlobTables, openPGlite, openPool } from "./blob-database.ts";
import { FileStoringStore } from "./file-storing-store.ts";
import type { MachineOrder } from "./machine-order.ts";

const order: MachineOrder = JSON.parse(process.argv[2] ?? "");
const { disk, schema } = order;
const { sql, close } = order.database === null ? openPool() : openPGlite(order.database);
await createBlobTables(sql, schema);
const blobs = new PostgresBlobStore({ sql, schema, sessionId: "run" });
const run = new RunFolder({ folder: join(disk, "run"), sessionId: "run", blobs });
const store = new FileStoringStore(new PostgresSessionStore({ sql, schema }), run);
const session = await Session.openOrCreate(store, "run");
await run.restore(session);
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: join(disk, "mount"), mountPath: "p" }],
  allowedHostRoots: [disk],
  persistDir: run.folder,
  syncDestination: join(disk, "result"),
  syncOnCleanup: true,
});
const adapter = new OpenAIAdapter({
  model: "local",
  clientConfig: { baseURL: order.url, apiKey: "local" },
  hostedTools: { codeInterpreter: true },
});
let count = 0;
const options: NestedOptions = {
  session,
  resume: true,
  [onBarrier]: async (barrier) => {
    if (barrier === order.killAt?.barrier) count += 1;
    if (count === order.killAt?.nth) process.kill(process.pid, "SIGKILL");
  },
};
const { text } = await adapter.evaluate(createPrompt(), options);
const diff = (await workspace.diff()).files.map(({ path, status }) => `${status} ${path}`);
const { failed, conflicts } = await workspace.cleanup();
await session.close();
await run.remove();
await close();
writeFileSync(join(disk, "answer.json"), JSON.stringify({ text, diff, failed, conflicts }));

function createPrompt(): Prompt {
  const append = new Tool({
    name: "append",
    description: "Appends a line.",
    params: null,
    effects: "idempotent",
    handler: async (_, { filesystem }) => {
      const before = (await filesystem?.readText("p/log.txt")) ?? "";
      await filesystem?.writeText("p/log.txt", `${before}line\n`);
      return ToolResult.ok(null, "Appended.");
    },
  });
  const task = { key: "task", title: "Task", template: "Do it.", tools: [append] };
  const sections = [new MarkdownSection(task), workspace];
  return new Prompt(new PromptTemplate({ ns: "tests", key: "machines", sections }));
}
