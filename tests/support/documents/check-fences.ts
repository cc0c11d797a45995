import { spawnSync } from "node:child_process";
import type { Fence, Page } from "./parse-page.ts";

/** Languages of fenced blocks. Those without a check are output and text for people. */
export const LANGUAGES = new Set(["js", "json", "jsonc", "py", "sh", "text", "toml", "ts"]);

/** Finds fences without a known language, and code that is not what it claims to be. */
export function checkFences(page: Page, examples: ReadonlySet<string>): readonly string[] {
  return page.fences.flatMap((fence) => {
    const problem = checkFence(fence, examples);
    return problem ? [`${page.path}:${fence.line}: ${problem}`] : [];
  });
}

function checkFence(fence: Fence, examples: ReadonlySet<string>): string | undefined {
  const { language, text, isClosed } = fence;
  if (!isClosed) return "the code block is not closed";
  if (!LANGUAGES.has(language)) {
    const name = language || "none";
    return `the language of the code block is ${name}; use one of ${[...LANGUAGES].join(", ")}`;
  }
  if (language === "ts") {
    return examples.has(text) ? undefined : "the program is not, byte for byte, a file of examples";
  }
  if (language === "json") return findJsonProblem(text);
  if (language === "jsonc") return findJsonProblem(text.replaceAll(/^\s*\/\/.*$/gm, ""));
  if (language === "js") return findJavaScriptProblem(text);
  if (language === "sh") return findShellProblem(text);
  if (language === "py") return runPython("import ast; ast.parse(sys.stdin.read())", text);
  if (language === "toml")
    return runPython("import tomllib; tomllib.loads(sys.stdin.read())", text);
}

function findJsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    return `the JSON does not parse: ${error instanceof Error ? error.message : error}`;
  }
}

/** Parses a module. Types are an error here: `.js` files have none. */
function findJavaScriptProblem(text: string): string | undefined {
  const { status, stderr } = spawnSync(process.execPath, ["--check", "--input-type=module", "-"], {
    input: text,
    encoding: "utf8",
  });
  const [reason] = /^SyntaxError: .*$/m.exec(stderr) ?? [stderr];
  return status === 0 ? undefined : `the JavaScript does not parse: ${reason}`;
}

function findShellProblem(text: string): string | undefined {
  if (/^\s*[$>] /m.test(text)) return "the commands begin with a prompt";
  const { status, stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
  return status === 0 ? undefined : `the commands do not parse: ${stderr.trim()}`;
}

/** Runs a line of Python on a text. Without Python, nothing is checked, except in CI. */
function runPython(code: string, text: string): string | undefined {
  const run = spawnSync("python3", ["-c", `import sys; ${code}`], {
    input: text,
    encoding: "utf8",
  });
  if (run.error && process.env["CI"] !== "true") return;
  if (run.error) return `python3 did not start: ${run.error.message}`;
  return run.status === 0 ? undefined : `the code does not parse: ${run.stderr.trim()}`;
}
