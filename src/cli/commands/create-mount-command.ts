import { Command, InvalidArgumentError } from "commander";
import type { MountOptions } from "../mount.ts";

/** Creates `wink mount`. */
export function createMountCommand(): Command {
  return new Command("mount")
    .description("show which files a workspace would mount, without copying or sending anything")
    .argument("<path>", "folder or file to mount")
    .option("--include <glob>", "mount only matching files (repeatable)", collect, [])
    .option("--exclude <glob>", "omit matching files (repeatable)", collect, [])
    .option("--max-bytes <number>", "fail if the files are larger than this", parseBytes)
    .option("--follow-symlinks", "follow symlinks that stay below the path")
    .option("--gitignore", "omit what .gitignore files ignore, and .git")
    .option(
      "--allow-secret <path>",
      "mount this key file, by path or glob (repeatable)",
      collect,
      [],
    )
    .option("--json", "print the plan as one JSON document, including every file")
    .addHelpText(
      "after",
      "\nExamples:\n  wink mount . --gitignore --exclude '*.{png,jpg}'\n  wink mount data --include '*.csv' --max-bytes 20000000 --json | jq .bytes\n\nA glob without a slash inside is the name of a file or folder at any depth; with one, it is a path from\nthe root of the mount. * also matches slashes. Exits with 1 if the mount would be rejected.",
    )
    .action(async (path: string, options: MountFlags) => {
      const { mount } = await import("../mount.ts");
      const { json = false, followSymlinks = false, gitignore = false, ...rest } = options;
      mount(path, { ...rest, json, followSymlinks, gitignore });
    });
}

interface MountFlags extends Omit<MountOptions, "json" | "followSymlinks" | "gitignore"> {
  readonly json?: boolean;
  readonly followSymlinks?: boolean;
  readonly gitignore?: boolean;
}

function collect(one: string, before: readonly string[]): readonly string[] {
  return [...before, one];
}

function parseBytes(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidArgumentError("Use an integer of 0 or more.");
}
