import { type ComponentChild, h } from "preact";
import { escapeInvisible } from "../../model/preview.ts";
import type { SessionSummary } from "../../session-summary.ts";
import { formatDuration, formatPlural } from "../../view/format.ts";
import { outlinePrompt } from "../../view/outline-prompt.ts";
import type { InspectorApp } from "../app.ts";
import { renderBlock, renderCited, renderFacts, renderText } from "./blocks.ts";
import { renderEgress } from "./render-egress.ts";
import { renderFiles } from "./render-files.ts";
import { renderEntryLinks } from "./render-links.ts";

/** Renders the session in short: the task, the answer, failures, files and tools. */
export function renderOverview(app: InspectorApp, summary: SessionSummary): ComponentChild {
  const { answer, input, egress } = summary;
  const highlights = app.tree.sort(summary.highlights);
  return h("article", { class: "detail-body" }, [
    h("h2", null, "Overview"),
    summary.problem !== null &&
      h("p", { class: "notice is-bad", role: "alert" }, escapeInvisible(summary.problem)),
    renderBlock("What happened", h("p", null, describeRun(summary))),
    app.liveText !== "" &&
      renderBlock(`Turn ${app.liveTurn} is being written`, renderText(app.liveText)),
    renderBlock("Asked by the user", renderText(input ?? "")),
    renderPrompt(app, summary),
    answer &&
      renderBlock(
        answer.isError ? "Error" : "Answer",
        answer.isError
          ? renderText(answer.text, "prose is-bad")
          : renderCited(
              prettify(answer.text),
              answer.text === prettify(answer.text) ? answer.citations : [],
            ),
      ),
    renderBlock("Worth a look", renderEntryLinks(app, highlights)),
    renderBlock("Files that differ from the mounted ones", renderFiles(app, "", summary.files)),
    renderBlock("Tools", renderTools(summary)),
    renderEgress(egress),
    renderBlock("Tags", renderFacts(Object.entries(summary.tags))),
  ]);
}

/** Renders the beginning of the prompt: a run without input follows it alone. */
function renderPrompt(app: InspectorApp, { prompt, input }: SessionSummary): ComponentChild {
  if (!prompt) return null;
  const isWhole = input === null;
  const { text, children } = outlinePrompt(prompt.text);
  const first = children.find((child) => child.text !== "");
  const start = (text || first?.text || prompt.text).slice(0, isWhole ? 700 : 200);
  const more = { type: "button", class: "crumb", onClick: () => app.select(prompt.key) } as const;
  return renderBlock(
    isWhole ? "Asked by the prompt" : "Prompt",
    renderText(start),
    h("button", more, "The whole prompt, with its tools"),
  );
}

const STATES: Readonly<Record<SessionSummary["state"], string>> = {
  empty: "Nothing has run in this session yet.",
  open: "The last evaluation has no end: it runs, or was interrupted.",
  done: "The last evaluation has its answer.",
  failed: "The last evaluation failed.",
  parked: "The last evaluation waits for approval.",
};

function describeRun({
  state,
  turns,
  calls,
  failedCalls,
  evaluations,
  files,
}: SessionSummary): string {
  const failed = failedCalls > 0 ? `, of which ${failedCalls} failed` : "";
  const changed = files.length > 0 ? ` ${formatPlural(files.length, "file")} changed.` : "";
  const asked = evaluations > 1 ? `${formatPlural(evaluations, "evaluation")}: ` : "";
  return `${asked}${formatPlural(turns, "turn")} with ${formatPlural(calls, "call")}${failed}.${changed} ${STATES[state]}`;
}

/** Structured answers are JSON on one line. */
function prettify(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function renderTools({ tools }: SessionSummary): ComponentChild {
  if (tools.length === 0) return null;
  return h("table", { class: "tools-table" }, [
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        ["Tool", "Calls", "Failed", "Time", "Ran"].map((title) => h("th", { scope: "col" }, title)),
      ),
    ),
    h(
      "tbody",
      null,
      tools.map(({ name, calls, failed, ms, place }) =>
        h("tr", { key: name }, [
          h("td", null, h("code", null, name)),
          h("td", null, String(calls)),
          h("td", { class: failed > 0 ? "is-bad" : "" }, failed > 0 ? String(failed) : "–"),
          h("td", null, ms > 0 ? formatDuration(ms) : "–"),
          h("td", null, place === "here" ? "locally" : `at ${place.split(" ")[0]}`),
        ]),
      ),
    ),
  ]);
}
