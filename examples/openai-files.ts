import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { OpenAIAdapter, OpenAICodeInterpreterTool, uploadFile } from "weakincentives/openai";
import { createCannedOpenAI, createMessage } from "./support/canned-openai.ts";

const link = { type: "container_file_citation", filename: "totals.csv" };
const fetch = createCannedOpenAI([
  [createMessage("Done: totals.csv", [{ ...link, container_id: "cntr_1", file_id: "cfile_1" }])],
  [createMessage("May was best.")],
]);
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { fetch } });

const folder = await mkdtemp(join(tmpdir(), "wink-example-"));
await writeFile(join(folder, "sales.csv"), "day,total\n1,12\n");
const { id } = await uploadFile(adapter.client, join(folder, "sales.csv"));
await rm(folder, { recursive: true });

const python = new OpenAICodeInterpreterTool({ container: { type: "auto", fileIds: [id] } });
const ask = (key: string, template: string) =>
  new Prompt(
    new PromptTemplate({
      ns: "shop",
      key,
      sections: [new MarkdownSection({ key, title: "Task", template, tools: [python] })],
    }),
  );

const session = new Session();
const first = ask("sum", "Sum sales.csv by month into totals.csv, and link it.");
const { citations } = await adapter.evaluate(first, { session });
for (const citation of citations) {
  if (citation.type !== "containerFile") continue;
  const bytes = await adapter.downloadFile(citation);
  console.log(`${citation.filename}: ${new TextDecoder().decode(bytes).trim().split("\n").at(-1)}`);
}

const next = ask("best", "Which month was best?");
const { text } = await adapter.evaluate(next, { session, continue: true });
console.log(text);
// prints: totals.csv: May,12
// prints: May was best.
