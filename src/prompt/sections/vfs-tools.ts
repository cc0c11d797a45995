import { plainSchema } from "../../base/schema/plain-schema.ts";
import type { Filesystem, GrepMatch } from "../../files/filesystem/filesystem.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { checkToolPath, checkToolText } from "./vfs-path.ts";

/** `ls`, `read`, `glob` and `grep`. */
export function readingTools(filesystem: Filesystem): readonly Tool[] {
  return [lsTool(filesystem), readTool(filesystem), globTool(filesystem), grepTool(filesystem)];
}

/** `write`, `edit` and `rm`. */
export function writingTools(filesystem: Filesystem): readonly Tool[] {
  return [writeTool(filesystem), editTool(filesystem), rmTool(filesystem)];
}

const path = { type: "string", description: "A path below the root, like docs/notes.md." } as const;

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
      return ToolResult.ok(entries.join("\n"), entries.length === 0 ? "It is empty." : "");
    },
  });
}

function readTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "read",
    description: "Reads lines of a text file.",
    params: plainSchema({
      path,
      offset: { type: "integer", description: "The first line, from 0.", optional: true },
      limit: { type: "integer", description: "How many lines; 2000 if left out.", optional: true },
    }),
    handler: async ({ path: given, offset, limit }) => {
      const read = await filesystem.read(checkToolPath(given), { offset, limit });
      const { text, offset: first, totalLines, truncated } = read;
      const more = `Lines from ${first} on, of ${totalLines}: ask for more with offset.`;
      return ToolResult.ok(text, truncated ? more : "");
    },
  });
}

function globTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "glob",
    description: "Finds files by a pattern; a star matches across slashes.",
    params: plainSchema({ pattern: { type: "string", description: "Like *.ts or src/*." } }),
    handler: async ({ pattern }) => {
      const paths = await filesystem.glob(pattern);
      return ToolResult.ok(paths.join("\n"), paths.length === 0 ? "Nothing matches." : "");
    },
  });
}

function grepTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "grep",
    description: "Finds lines by a regular expression.",
    params: plainSchema({
      pattern: { type: "string", description: "A regular expression." },
      glob: { type: "string", description: "Only in files that match.", optional: true },
    }),
    handler: async ({ pattern, glob }) => {
      const matches = await filesystem.grep(pattern, { glob });
      return ToolResult.ok(matches, matches.length === 0 ? "Nothing matches." : "");
    },
    render: (matches: readonly GrepMatch[]) =>
      matches.map(({ path: file, line, text }) => `${file}:${line}: ${text}`).join("\n"),
  });
}

function writeTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "write",
    description: "Writes a whole text file, new or not.",
    params: plainSchema({ path, content: { type: "string", description: "All of its text." } }),
    handler: async ({ path: given, content }) => {
      await filesystem.writeText(checkToolPath(given), checkToolText(content));
      return ToolResult.ok(null, `Wrote ${given}.`);
    },
  });
}

function editTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "edit",
    description: "Replaces a text within a file; it must be there once.",
    params: plainSchema({
      path,
      old_text: { type: "string", description: "What is there now, exactly." },
      new_text: { type: "string", description: "What is to be there." },
      all: { type: "boolean", description: "Replace it wherever it is.", optional: true },
    }),
    handler: async ({ path: given, old_text: before, new_text: after, all = false }) => {
      const file = checkToolPath(given);
      if (before === "") return ToolResult.error("old_text is empty: say what to replace.");
      if (before === after) return ToolResult.error("old_text and new_text are the same.");
      const parts = (await filesystem.readText(file)).split(before);
      const found = parts.length - 1;
      if (found === 0) return ToolResult.error(`old_text is not in ${file}: read it again.`);
      if (found > 1 && !all) {
        return ToolResult.error(`old_text is in ${file} ${found} times: give more of it, or all.`);
      }
      await filesystem.writeText(file, checkToolText(parts.join(after)));
      return ToolResult.ok(null, `Replaced it ${found === 1 ? "once" : `${found} times`}.`);
    },
  });
}

function rmTool(filesystem: Filesystem): Tool {
  return new Tool({
    name: "rm",
    description: "Deletes a file, or a directory that is empty.",
    params: plainSchema({ path }),
    handler: async ({ path: given }) => {
      await filesystem.delete(checkToolPath(given));
      return ToolResult.ok(null, `Deleted ${given}.`);
    },
  });
}
