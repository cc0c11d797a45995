import { basename, resolve } from "node:path";
import { escapeControls } from "../escape-controls.ts";
import type { PackageVersions } from "./create-manifest.ts";
import { createProjectFiles } from "./create-project-files.ts";
import { writeProject } from "./write-project.ts";

/** Options of `wink init`. */
export interface InitOptions {
  /** The project's folder. */
  readonly folder: string;
  /** Whether to print one JSON document. */
  readonly json: boolean;
}

/** Creates a project with one agent, and prints its files and the next commands. */
export async function init(
  { folder, json }: InitOptions,
  versions: PackageVersions,
): Promise<void> {
  const path = resolve(folder);
  const files = createProjectFiles(toPackageName(basename(path)), versions);
  await writeProject(path, files);
  const next = [
    ...(path === process.cwd() ? [] : [`cd ${quoteForShell(folder)}`]),
    ...["npm install", "npm test", "npm run start:local"],
  ];
  const paths = files.map((file) => file.path);
  if (json) {
    console.log(JSON.stringify({ folder: path, files: paths, next }));
    return;
  }
  console.log(`Created a project in ${escapeControls(path)}:`);
  for (const one of paths) console.log(`  ${one}`);
  console.log("\nRun it, without a key:");
  for (const command of next) console.log(`  ${escapeControls(command)}`);
}

/** Converts a folder's name to a name that npm accepts, and that no dependency has. */
function toPackageName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, "-")
    .replaceAll(/^[._-]+|-+$/g, "")
    .slice(0, MAX_NAME_LENGTH);
  return ["", "weakincentives", "zod", "typescript", "node_modules"].includes(plain)
    ? "my-agent"
    : plain;
}

const MAX_NAME_LENGTH = 200;

function quoteForShell(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
