import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Builds the page of `wink inspect`: one HTML file with its script and its style. */
export async function bundlePage(): Promise<string> {
  const [script, style] = [await bundleScript(), bundleStyle()];
  const template = readFileSync(at("src/inspect/page/page.html"), "utf8");
  // A function, because `$` in the script must not be a pattern.
  return template.replace("/* style */", () => style).replace("/* script */", () => script);
}

async function bundleScript(): Promise<string> {
  await using bundle = await rolldown({
    input: at("src/inspect/page/main.ts"),
    platform: "browser",
  });
  const { output } = await bundle.generate({ format: "iife", minify: true });
  const code = output[0].code.trim();
  if (/<\/script|<!--/i.test(code)) throw new Error("The script of the page ends its own element.");
  return `${createNotice()}\n${code}`;
}

/** Preact's license asks for its text in every copy. */
function createNotice(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(at("node_modules/preact/package.json"), "utf8"),
  );
  const license = readFileSync(at("node_modules/preact/LICENSE"), "utf8").trim();
  return `/*! This script contains Preact ${version}.\n${license}\n*/`;
}

/** The style sheets, in the order in which they override each other. */
const STYLES = ["theme", "base", "timeline", "detail", "list", "narrow"];

function bundleStyle(): string {
  return STYLES.map((name) => readFileSync(at(`src/inspect/page/style/${name}.css`), "utf8"))
    .join("\n")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(/: /g, ":") // selectors have no space after a colon
    .replaceAll(";}", "}")
    .trim();
}
