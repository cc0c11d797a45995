import { type ComponentChild, h } from "preact";
import { isPlainObject } from "../../../base/freeze.ts";
import {
  readNumber,
  readRecords,
  readString,
  readStrings,
  type UnknownRecord,
} from "../../../base/json.ts";
import { escapeInvisible } from "../../model/preview.ts";
import { formatBytes, formatPlural, shortenId } from "../../view/format.ts";
import { renderBlock } from "./blocks.ts";

/** Renders the requests to the provider that had content; nothing if the session does not have them. */
export function renderEgress(egress: unknown): ComponentChild {
  if (!isPlainObject(egress)) return null;
  const requests = readRecords(egress, "requests");
  const sending = requests.filter((request) => readBytes(request) > 0);
  const bytes = sending.reduce((sum, request) => sum + readBytes(request), 0);
  const count = `${formatPlural(sending.length, "request")} with ${formatBytes(bytes)}`;
  const verdict = escapeInvisible(readString(egress, "verdict"));
  const others = requests.length - sending.length;
  return renderBlock(
    "Sent to the provider",
    h("p", null, [count, verdict !== "" && [": ", h("strong", null, verdict)], "."]),
    sending.length > 0 && renderTable(sending),
    others > 0 && h("p", { class: "muted" }, `${formatPlural(others, "request")} without content.`),
  );
}

const TITLES = ["Request", "Size", "New content", "Stored"];

function renderTable(requests: readonly UnknownRecord[]): ComponentChild {
  const titles = TITLES.map((title) => h("th", { scope: "col" }, title));
  return h("table", { class: "tools-table egress" }, [
    h("thead", null, h("tr", null, titles)),
    h("tbody", null, requests.map(renderRequest)),
  ]);
}

function renderRequest(request: UnknownRecord): ComponentChild {
  const endpoint = escapeInvisible(readString(request, "endpoint"));
  const outputs = readStrings(request, "toolOutputs").length;
  return h("tr", null, [
    h("td", { title: endpoint }, h("code", null, shortenId(endpoint))),
    h("td", null, formatBytes(readBytes(request))),
    h("td", null, [
      outputs > 0 && formatPlural(outputs, "tool output"),
      renderFiles(readRecords(request, "files")),
    ]),
    h("td", null, request["stored"] === true ? "yes" : "no"),
  ]);
}

function renderFiles(files: readonly UnknownRecord[]): ComponentChild {
  if (files.length === 0) return null;
  const paths = files.map((file) => `${readString(file, "mount")}/${readString(file, "path")}`);
  const items = paths.slice(0, MAX_FILES).map((path) => h("li", null, escapeInvisible(path)));
  const more = paths.length - items.length;
  return h("details", null, [
    h("summary", null, formatPlural(files.length, "file")),
    h("ul", null, [...items, more > 0 && h("li", null, `${more} more`)]),
  ]);
}

const MAX_FILES = 200;

function readBytes(request: UnknownRecord): number {
  return readNumber(request, "bytes") ?? 0;
}
