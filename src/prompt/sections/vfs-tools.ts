import { plainSchema } from "../../base/schema/plain-schema.ts";
import type { Filesystem, GrepMatch } from "../../files/filesystem/filesystem.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { checkToolPath, checkToolText } from "./check-tool-path.ts";

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
    description: "Lists a directory; directories end in a slash.",
    params: plainSchema({ path: { ...path, optional: true } }),
    handler: async ({ path: given = "." }) => {
      const dir = checkToolPath(given);
      const names = await filesystem.listDir(dir);
      const entries = await Promise.all(
        names.map(async (name) => {
          const isDir = await filesystem.isDir(dir === "." ? name : `${dir}/${name}`);
          return isDir ? `${name}/` : name;
        }),
      );
      return ToolResult.ok(
        entries.join("\n"),
        entries.length === 0 ? "The directory is empty." : "",
      );
    },
  });
}

function readTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "read",
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
      return ToolResult.ok(text, truncated ? more : "");
    },
  });
}

function globTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "glob",
    description: "Finds files by a pattern. A star also matches slashes.",
    params: plainSchema({ pattern: { type: "string", description: "For example *.ts or src/*." } }),
    handler: async ({ pattern }) => {
      const paths = await filesystem.glob(pattern);
      return ToolResult.ok(paths.join("\n"), paths.length === 0 ? "No matches." : "");
    },
  });
}

function grepTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "grep",
    description: "Finds lines by a regular expression.",
    params: plainSchema({
      pattern: { type: "string", description: "A regular expression." },
      glob: { type: "string", description: "Searches only files that match.", optional: true },
    }),
    handler: async ({ pattern, glob }) => {
      const matches = await filesystem.grep(pattern, { glob });
      return ToolResult.ok(matches, matches.length === 0 ? "No matches." : "");
    },
    render: (matches: readonly GrepMatch[]) =>
      matches.map(({ path: file, line, text }) => `${file}:${line}: ${text}`).join("\n"),
  });
}

function writeTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "write",
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
      const parts = (await filesystem.readText(file)).split(before);
      const found = parts.length - 1;
      if (found === 0) return ToolResult.error(`old_text is not in ${file}. Read the file again.`);
      if (found > 1 && !all) {
        return ToolResult.error(
          `old_text occurs in ${file} ${found} times. Pass a longer text, or set all.`,
        );
      }
      await filesystem.writeText(file, checkToolText(parts.join(after)));
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
    description: "Deletes a file or an empty directory.",
    params: plainSchema({ path }),
    handler: async ({ path: given }) => {
      await filesystem.delete(checkToolPath(given));
      return ToolResult.ok(null, `Deleted ${given}.`);
    },
  });
}
