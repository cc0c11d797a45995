import { type ComponentChild, h } from "preact";
import { readRecords, readString, type UnknownRecord } from "../../../base/json.ts";
import { escapeInvisible } from "../../model/preview.ts";
import { outlinePrompt, type PromptSection } from "../../view/outline-prompt.ts";
import { renderBlock, renderText } from "./blocks.ts";
import { JsonView } from "./json-view.ts";

/** Renders a prompt as the tree of its sections, with its tools. */
export function renderPrompt(event: UnknownRecord): ComponentChild {
  const messages = readRecords(event, "messages");
  const shown = messages.length > 0 ? messages : [{ role: "", text: readString(event, "text") }];
  return h("div", null, [
    shown.map((message) =>
      renderBlock(
        `${readString(message, "role") || "Text"} message`,
        renderSection(outlinePrompt(readString(message, "text")), 0),
      ),
    ),
    renderBlock("User's input", renderText(readString(event, "input"))),
    renderBlock("Tools that run locally", renderTools(readRecords(event, "tools"))),
    renderBlock("Tools that the provider runs", renderHosted(readRecords(event, "hostedTools"))),
  ]);
}

function renderSection({ title, text, children }: PromptSection, depth: number): ComponentChild {
  const content = [renderText(text), children.map((child) => renderSection(child, depth + 1))];
  if (title === "") return h("div", null, content);
  return h("details", { class: "tree", open: true }, [
    h("summary", null, escapeInvisible(title)),
    h("div", { class: "tree-body" }, content),
  ]);
}

function renderTools(tools: readonly UnknownRecord[]): ComponentChild {
  if (tools.length === 0) return null;
  return h(
    "ul",
    { class: "tools" },
    tools.map((tool) =>
      h("li", null, [
        h("code", null, escapeInvisible(readString(tool, "name"))),
        h("p", null, escapeInvisible(readString(tool, "description"))),
        h(JsonView, { name: "params", value: tool["params"], open: 0 }),
      ]),
    ),
  );
}

function renderHosted(tools: readonly UnknownRecord[]): ComponentChild {
  if (tools.length === 0) return null;
  return h(
    "ul",
    { class: "tools" },
    tools.map((tool) => {
      const [name, kind] = [readString(tool, "name"), readString(tool, "kind")];
      return h("li", null, [
        h("code", null, escapeInvisible(name)),
        kind !== name && ` (${escapeInvisible(kind)})`,
      ]);
    }),
  );
}
