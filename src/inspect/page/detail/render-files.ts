import { type ComponentChild, h } from "preact";
import type { FileChange } from "../../file-change.ts";
import { escapeInvisible } from "../../model/preview.ts";
import { formatBytes, formatCount } from "../../view/format.ts";
import type { InspectorApp } from "../app.ts";
import { renderDiff } from "./blocks.ts";

/** Files that are listed at once. */
const MAX_FILES = 500;

/** Renders files that changed. A click shows the lines that differ, or hides them. */
export function renderFiles(
  app: InspectorApp,
  key: string,
  files: readonly FileChange[],
): ComponentChild {
  if (files.length === 0) return null;
  const shown = files.slice(0, MAX_FILES);
  return h("div", { class: "files" }, [
    h(
      "ul",
      null,
      shown.map((file) => h("li", { key: file.path }, renderFile(app, key, file))),
    ),
    files.length > shown.length &&
      h("p", { class: "muted" }, `${formatCount(files.length - shown.length)} more files`),
  ]);
}

function renderFile(app: InspectorApp, key: string, file: FileChange): ComponentChild {
  const { path, change, before, after, bytesBefore, bytesAfter } = file;
  const canDiff = before !== null || after !== null;
  const loaded = app.getDiff(key, file);
  const sizes = [bytesBefore, bytesAfter].flatMap((bytes) =>
    bytes === null ? [] : formatBytes(bytes),
  );
  const label = [
    h("span", { class: `change change-${change}` }, change),
    h("span", { class: "path" }, escapeInvisible(path)),
    h("span", { class: "muted" }, [...new Set(sizes)].join(" → ")),
  ];
  if (!canDiff) return h("div", { class: "file" }, label);
  return h("div", null, [
    h(
      "button",
      {
        type: "button",
        class: "file",
        "aria-expanded": loaded !== undefined,
        onClick: () => void app.toggleDiff(key, file),
      },
      label,
    ),
    loaded === "loading" && h("p", { class: "muted" }, "Loading …"),
    loaded !== undefined &&
      loaded !== "loading" &&
      (loaded.diff === undefined
        ? h("p", { class: "muted" }, escapeInvisible(loaded.problem ?? ""))
        : renderDiff(loaded.diff || "no lines differ")),
  ]);
}
