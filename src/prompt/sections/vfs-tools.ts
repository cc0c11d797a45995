import { plainSchema } from "../../base/schema/plain-schema.ts";
import type { Filesystem, GrepMatch } from "../../files/filesystem/filesystem.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { checkToolPath, checkToolText } from "./check-tool-path.ts";
import { replaceText } from "./replace-text.ts";
import { isRestored } from "./restored.ts";

/** How many names or paths a tool shows. */
const MAX_NAMES = 2000;
const MAX_MATCHES = 1000;
const MAX_TEXT_LENGTH = 1_000_000;

/** Creates the tools `ls`, `read`, `glob` and `grep`. */
export function createVfsReadTools(filesystem: Filesystem): readonly Tool[] {
  return [lsTool(filesystem), readTool(filesystem), globTool(filesystem), grepTool(filesystem)];
}

/** Creates the tools `write`, `edit` and `rm`. */
export function createVfsWriteTools(filesystem: Filesystem): readonly Tool[] {
  return [writeTool(filesystem), editTool(filesystem), rmTool(filesystem)];
}

const path = {
  type: "string",
  description: "A path below the root, such as docs/notes.md.",
} as const;

function lsTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "ls",
    effects: "none",
    description: "Lists a directory; directories end in a slash.",
    params: plainSchema({ path: { ...path, optional: true } }),
    handler: async ({ path: given = "." }) => {
      const dir = checkToolPath(given);
      const names = await filesystem.listDir(dir);
      const shown = names.slice(0, MAX_NAMES);
      const entries = await Promise.all(
        shown.map(async (name) => {
          const isDir = await filesystem.isDir(dir === "." ? name : `${dir}/${name}`);
          return isDir ? `${name}/` : name;
        }),
      );
      const rest = describeRest(names, "Use glob to find the others.");
      return ToolResult.ok(
        entries.join("\n"),
        entries.length === 0 ? "The directory is empty." : rest,
      );
    },
  });
}

function readTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "read",
    effects: "none",
    description: "Reads lines of a text file.",
    params: plainSchema({
      path,
      offset: { type: "integer", description: "First line to read, from 0.", optional: true },
      limit: { type: "integer", description: "Number of lines. Defaults to 2000.", optional: true },
    }),
    handler: async ({ path: given, offset, limit }) => {
      const read = await filesystem.read(checkToolPath(given), { offset, limit });
      const { text, offset: first, totalLines, truncated } = read;
      const more = `Lines from ${first} of ${totalLines}. Use offset to read more.`;
      if (text.length <= MAX_TEXT_LENGTH) return ToolResult.ok(text, truncated ? more : "");
      const cut = `Lines from ${first} of ${totalLines}, cut after ${MAX_TEXT_LENGTH} characters. Use grep to find text in long lines.`;
      return ToolResult.ok(text.slice(0, MAX_TEXT_LENGTH).toWellFormed(), cut);
    },
  });
}

function globTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "glob",
    effects: "none",
    description: "Finds files by a pattern. A star also matches slashes.",
    params: plainSchema({ pattern: { type: "string", description: "For example *.ts or src/*." } }),
    handler: async ({ pattern }, { signal }) => {
      const paths = await filesystem.glob(pattern, { signal });
      const rest = describeRest(paths, "Use a narrower pattern.");
      const message = paths.length === 0 ? "No matches." : rest;
      return ToolResult.ok(paths.slice(0, MAX_NAMES).join("\n"), message);
    },
  });
}

function grepTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "grep",
    effects: "none",
    description: "Finds lines by a regular expression.",
    params: plainSchema({
      pattern: { type: "string", description: "A regular expression." },
      glob: { type: "string", description: "Searches only files that match.", optional: true },
    }),
    handler: async ({ pattern, glob }, { signal }) => {
      const notes: string[] = [];
      const onIncomplete = (reason: string) =>
        void notes.push(`The search is incomplete: ${reason}`);
      const options = { glob, signal, onIncomplete, maxMatches: MAX_MATCHES };
      const matches = await filesystem.grep(pattern, options);
      if (matches.length === 0) notes.unshift("No matches.");
      if (matches.length === MAX_MATCHES) notes.unshift(`The first ${MAX_MATCHES} matches:`);
      return ToolResult.ok(matches, notes.join("\n"));
    },
    render: (matches: readonly GrepMatch[]) =>
      matches.map(({ path: file, line, text }) => `${file}:${line}: ${text}`).join("\n"),
  });
}

/** Describes the names that are not shown, if there are any. */
function describeRest(names: readonly string[], remedy: string): string {
  return names.length <= MAX_NAMES ? "" : `The first ${MAX_NAMES} of ${names.length}. ${remedy}`;
}

function writeTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "write",
    effects: "idempotent",
    description: "Writes a whole text file, and replaces it if it exists.",
    params: plainSchema({ path, content: { type: "string", description: "The full text." } }),
    handler: async ({ path: given, content }) => {
      await filesystem.writeText(checkToolPath(given), checkToolText(content));
      return ToolResult.ok(null, `Wrote ${given}.`);
    },
  });
}

function editTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "edit",
    effects: isRestored(filesystem) ? "idempotent" : "once",
    description: "Replaces a text within a file. It must occur exactly once.",
    params: plainSchema({
      path,
      old_text: { type: "string", description: "The current text, exactly." },
      new_text: { type: "string", description: "The new text." },
      all: { type: "boolean", description: "Replace every occurrence.", optional: true },
    }),
    handler: async ({ path: given, old_text: before, new_text: after, all = false }) => {
      const file = checkToolPath(given);
      if (before === "") return ToolResult.error("old_text is empty. Pass the text to replace.");
      if (before === after) return ToolResult.error("old_text and new_text are the same.");
      const { text, found } = replaceText(await filesystem.readText(file), before, after);
      if (found === 0) return ToolResult.error(`old_text is not in ${file}. Read the file again.`);
      if (found > 1 && !all) {
        return ToolResult.error(
          `old_text occurs in ${file} ${found} times. Pass a longer text, or set all.`,
        );
      }
      await filesystem.writeText(file, checkToolText(text));
      return ToolResult.ok(
        null,
        `Replaced ${found === 1 ? "1 occurrence" : `${found} occurrences`}.`,
      );
    },
  });
}

function rmTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "rm",
    effects: "idempotent",
    description: "Deletes a file or an empty directory.",
    params: plainSchema({ path }),
    handler: async ({ path: given }) => {
      await filesystem.delete(checkToolPath(given));
      return ToolResult.ok(null, `Deleted ${given}.`);
    },
  });
}
