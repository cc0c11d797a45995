/** Policies deny a tool call until its conditions are met, and feedback tells the model what is still missing. */
import {
  type FeedbackProvider,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  readBeforeWrite,
  Session,
  sequentialDependency,
  Tool,
  type ToolPolicy,
  ToolResult,
  VfsToolsSection,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";

const printMenu = new Tool({
  name: "print_menu",
  description: "Prints menu.md for the guests.",
  params: null,
  // The model must have read the rules in this session.
  policies: [sequentialDependency({ tool: "print_menu", after: ["read_rules"] })],
  handler: () => ToolResult.ok(null, "Printed."),
});
const readRules = new Tool({
  name: "read_rules",
  description: "Reads the rules for menus.",
  params: null,
  handler: () => ToolResult.ok("Every menu needs allergens.md.", "Read."),
});
const keepFiles: ToolPolicy = {
  name: "keep files",
  guards: ["rm"],
  check: ({ tool }) => (tool === "rm" ? "Files are never deleted. Edit the file instead." : null),
};
const allergens: FeedbackProvider = {
  name: "allergens",
  provide: async ({ filesystem }) =>
    (await filesystem?.exists("allergens.md"))
      ? null
      : "allergens.md is missing. Write it before you finish.",
};

const filesystem = new InMemoryFilesystem();
await filesystem.writeText("menu.md", "Soup: 4.00\n");
const template = new PromptTemplate({
  ns: "kitchen",
  key: "menu",
  sections: [
    new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Raise the price of the soup in menu.md to 4.50, and print the menu.",
      tools: [printMenu, readRules],
    }),
    new VfsToolsSection({ filesystem }),
  ],
  policies: [readBeforeWrite(), keepFiles],
  feedback: [allergens],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const edit = { path: "menu.md", old_text: "4.00", new_text: "4.50" };
const model = scriptedClient(
  { toolCalls: [{ name: "edit", arguments: edit }, { name: "print_menu" }] },
  { toolCalls: [{ name: "read", arguments: { path: "menu.md" } }, { name: "read_rules" }] },
  { toolCalls: [{ name: "edit", arguments: edit }] },
  {
    toolCalls: [{ name: "write", arguments: { path: "allergens.md", content: "Soup: celery\n" } }],
  },
  { toolCalls: [{ name: "rm", arguments: { path: "allergens.md" } }, { name: "print_menu" }] },
  { text: "The soup is 4.50 now, and the menu is printed." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : model;

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ name, result }) =>
  console.log(result.success ? `${name} ran` : `${name} was denied: ${result.message}`),
);
const { text } = await adapter.evaluate(new Prompt(template), { session });
console.log(text);
const note = model.asked[1]?.answers[1]?.text.split("\n").at(-2);
if (!isLive) console.log(`Until then it read after each call: ${note}`);
// prints: edit was denied: Read "menu.md" with "read" before you change it. (policy "read before write")
// prints: print_menu was denied: Call "read_rules" first, then "print_menu". (policy "print_menu after read_rules")
// prints: read ran
// prints: read_rules ran
// prints: edit ran
// prints: write ran
// prints: rm was denied: Files are never deleted. Edit the file instead. (policy "keep files")
// prints: print_menu ran
// prints: The soup is 4.50 now, and the menu is printed.
// prints: Until then it read after each call: allergens.md is missing. Write it before you finish.
