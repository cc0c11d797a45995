import { readFileSync } from "node:fs";
import { extname } from "node:path";

/** Extensions of the files that Node.js runs. */
export const NODE_FILES: readonly string[] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];

/**
 * Returns whether a file is a module with a default export, which `wink run` loads as an agent. It reads the source:
 * loading a program would run it.
 */
export function isAgentFile(path: string): boolean {
  if (!NODE_FILES.includes(extname(path))) return false;
  try {
    return hasDefaultExport(readFileSync(path, "utf8"));
  } catch {
    return false; // running it as a program reports the problem
  }
}

/**
 * Returns whether a module's source has a default export. Comments, strings, templates and regular expressions are
 * skipped, but not parsed: code in a template inside a template counts as code.
 */
export function hasDefaultExport(source: string): boolean {
  const code = source.replace(SKIPPED, (found) => (/^\/[/*]/.test(found) ? " " : '""'));
  if (/(?:^|[;}])\s*export\s+default\b/m.test(code)) return true;
  return [...code.matchAll(EXPORT_LIST)].some(isDefault);
}

const SKIPPED = new RegExp(
  [
    /\/\/.*/, // a comment to the end of the line
    /\/\*[\s\S]*?\*\//, // a comment
    /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/, // a string
    /`(?:\\[\s\S]|[^`\\])*`/, // a template
    // a regular expression: after an operator or a keyword, where no division can be
    /(?<=(?:[=(,:[!&|?{};<>+~%^*-]|^|\b(?:return|typeof|case|of|in))\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gm",
);

const EXPORT_LIST = /\bexport\s*\{([^}]*)\}/g;

function isDefault([, names = ""]: RegExpMatchArray): boolean {
  return names.split(",").some((name) => /(?:^|\sas)\s+default\s*$/.test(` ${name}`));
}
