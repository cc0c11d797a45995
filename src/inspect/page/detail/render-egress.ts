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

const TITLES = ["Request", "Size", "SHA-256", "New content", "Stored"];

function renderTable(requests: readonly UnknownRecord[]): ComponentChild {
  const titles = TITLES.map((title) => h("th", { scope: "col" }, title));
  return h("table", { class: "tools-table egress" }, [
    h("thead", null, h("tr", null, titles)),
    h("tbody", null, requests.map(renderRequest)),
  ]);
}

function renderRequest(request: UnknownRecord): ComponentChild {
  const endpoint = escapeInvisible(readString(request, "endpoint"));
  const outputs = readStrings(request, "toolOutputs");
  return h("tr", null, [
    h("td", { title: endpoint }, h("code", null, shortenId(endpoint))),
    h("td", null, formatBytes(readBytes(request))),
    h("td", null, renderDigest(request)),
    h("td", null, [
      renderList(
        "tool output",
        outputs.map((id) => escapeInvisible(id)),
      ),
      renderList("file", readRecords(request, "files").map(renderFile)),
    ]),
    h("td", null, request["stored"] === true ? "yes" : "no"),
  ]);
}

/** Renders the beginning of a SHA-256. The whole one is its title. */
function renderDigest(sent: UnknownRecord): ComponentChild {
  const sha256 = escapeInvisible(readString(sent, "sha256"));
  return sha256 === "" ? null : h("code", { title: sha256 }, sha256.slice(0, DIGEST_LENGTH));
}

function renderFile(file: UnknownRecord): ComponentChild {
  const path = escapeInvisible(`${readString(file, "mount")}/${readString(file, "path")}`);
  return [path, " ", renderDigest(file)];
}

/** Renders what is new in a request as a list that opens. */
function renderList(name: string, items: readonly ComponentChild[]): ComponentChild {
  if (items.length === 0) return null;
  const more = items.length - MAX_ITEMS;
  return h("details", null, [
    h("summary", null, formatPlural(items.length, name)),
    h("ul", null, [
      items.slice(0, MAX_ITEMS).map((item) => h("li", null, item)),
      more > 0 && h("li", null, `${more} more`),
    ]),
  ]);
}

const DIGEST_LENGTH = 12;
const MAX_ITEMS = 200;

function readBytes(request: UnknownRecord): number {
  return readNumber(request, "bytes") ?? 0;
}
