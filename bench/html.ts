/**
 * Compares HTML readers on an ordinary page and on hostile pages of 10 MB: `readHtml` of the local
 * provider, the whole tree of parse5, and htmlparser2 if it is installed
 * (`npm install --no-save htmlparser2@12.0.0`). Each cell is one process: its processor time for
 * the page, which other processes do not affect, and its peak memory, with the page itself.
 * `node bench/html.ts FILE…` reads files instead. With `--json` it compares `readHtml` with the whole tree, and ends a reader
 * after 10 s.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "parse5";
import { HtmlText } from "../src/local/search/html-text.ts";
import { readHtml } from "../src/local/search/read-html.ts";
import type { Figure, FigureFacts } from "./report/figure.ts";
import { printResult } from "./report/part-result.ts";

const LENGTH = 10_000_000;
const isReport = process.argv.includes("--json");
const LIMIT_MS = isReport ? 10_000 : 60_000;

type Read = (html: string) => unknown;

const readers: Readonly<Record<string, () => Promise<Read>>> = {
  readHtml: async () => readHtml,
  "parse5, whole tree": async () => parse,
  htmlparser2: loadHtmlparser2,
};

const pages: Readonly<Record<string, () => string>> = {
  "ordinary page": () => repeat(section),
  "`<div>` nested 2 million deep": () => repeat(() => "<div>"),
  "tags that are never closed": () => repeat((n) => `<section><b a=${n}><ul><li>x`),
  "unclosed `<b>` in a paragraph, then paragraphs": () =>
    `<p>${repeat((n) => `<b a=${n}>`, LENGTH / 2)}${repeat(() => "<p>x", LENGTH / 2)}`,
  "`<nobr>` in unclosed `<b>`": () => repeat((n) => `<b a=${n}><nobr>`),
  "`<div>` half a million deep, then unmatched end tags": () =>
    repeat(() => "<div>", LENGTH / 4) + repeat(() => "</span>", (LENGTH * 3) / 4),
  "one tag with 1.2 million attributes": () => `<a ${repeat((n) => `a${n} `)}>x`,
  "text and tags directly in a table": () => `<table>${repeat(() => "x<i></i>")}`,
  "references without semicolon": () => repeat(() => "&amp"),
};

const [first, ...others] = process.argv.slice(2);
if (first === "--one") await measure(others[0] ?? "", others[1] ?? "");
else if (isReport) printComparison();
else printTable(first === undefined ? Object.keys(pages) : [first, ...others]);

function printTable(names: readonly string[]): void {
  console.log(`Node ${process.version}\n`);
  console.log(`| page | ${Object.keys(readers).join(" | ")} |`);
  console.log(`|---|${"---:|".repeat(Object.keys(readers).length)}`);
  for (const name of names) {
    const cells = Object.keys(readers).map((reader) => measureInProcess(reader, name));
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

function printComparison(): void {
  const notes: string[] = [];
  const figures = Object.keys(pages).flatMap((page) => {
    const [ours, other] = ["readHtml", "parse5, whole tree"].map((reader) => {
      const cell = measureInProcess(reader, page);
      const [, seconds, megabytes] = /^([\d.]+) s, (\d+) MB$/.exec(cell) ?? [];
      if (seconds === undefined) notes.push(`${page}, ${reader}: ${cell}`);
      return { seconds: Number(seconds), megabytes: Number(megabytes) };
    });
    if (!ours || !other) return [];
    return [
      compare({ what: `${page}, CPU`, unit: "s", goal: null }, ours.seconds, other.seconds),
      compare({ what: `${page}, memory`, unit: "MB", goal: null }, ours.megabytes, other.megabytes),
    ];
  });
  printResult({ figures, notes });
}

/** Creates a figure whose reference is missing if it did not end. */
function compare(facts: FigureFacts, ours: number, other: number): Figure {
  const reference = Number.isNaN(other) ? null : other;
  return { ...facts, ours, reference, ratio: reference === null ? null : ours / reference };
}

function measureInProcess(reader: string, page: string): string {
  const { stdout, error, status } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), "--one", reader, page],
    { encoding: "utf8", timeout: LIMIT_MS, killSignal: "SIGKILL" },
  );
  if (error) return `over ${LIMIT_MS / 1000} s`;
  return status === 0 ? stdout.trim() : "crashed";
}

async function measure(reader: string, page: string): Promise<void> {
  const html = pages[page]?.() ?? readFileSync(page, "utf8");
  const read = await readers[reader]?.().catch(() => null);
  if (!read) return console.log("not installed");
  const before = process.cpuUsage();
  read(html);
  const { user, system } = process.cpuUsage(before);
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(`${((user + system) / 1e6).toFixed(1)} s, ${peak} MB`);
}

/** Parts for consecutive numbers, until they have the length. */
function repeat(part: (n: number) => string, length = LENGTH): string {
  const parts: string[] = [];
  for (let n = 0, total = 0; total < length; n++) {
    const next = part(n);
    parts.push(next);
    total += next.length;
  }
  return parts.join("");
}

function section(n: number): string {
  const words = "Owls hunt at night &amp; sleep by day; <b>barn owls</b> nest in <i>towers</i>. ";
  const cells = `<tr><td>Owl ${n}</td><td class="n">${n % 7} mice</td></tr>`;
  return `<section id="s${n}"><h2>Section ${n}</h2>
    <p class="lead">${words.repeat(4)}</p><ul><li><a href="/owls/${n}?a=1&amp;b=2">More</a></li></ul>
    <table>${cells.repeat(3)}</table><!-- ${n} --><script>let n = ${n} < 5;</script></section>\n`;
}

interface Htmlparser2 {
  readonly Parser: new (
    handler: Readonly<Record<string, (text: string) => void>>,
  ) => { end(html: string): void };
}

async function loadHtmlparser2(): Promise<Read> {
  const name = "htmlparser2";
  const { Parser } = (await import(name)) as Htmlparser2;
  return (html) => {
    const text = new HtmlText();
    new Parser({
      onopentag: (tag) => text.start(tag),
      ontext: (words) => text.add(words),
      onclosetag: (tag) => text.end(tag),
    }).end(html);
    return text.finish();
  };
}
