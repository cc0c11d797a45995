import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";

const refuse = InvalidOptionError.at("FILE");

/** Imports the module in a file that the user named. Errors name the file; `what` describes the expected module. */
export async function importModule(file: string, what: string): Promise<object> {
  const path = resolve(file);
  if (!existsSync(path)) {
    throw refuse("", file, "must be an existing file", `pass the path of ${what}`);
  }
  try {
    const module: object = await import(pathToFileURL(path).href);
    return module;
  } catch (cause) {
    const rule = "must be a module that can be loaded";
    throw refuse("", file, rule, getErrorMessage(cause), { cause });
  }
}

/** Creates the error for a value of another copy of this package, whose classes differ. */
export function createForeignCopyError(file: string): InvalidOptionError {
  return refuse(
    "",
    file,
    "must import the same copy of weakincentives as wink",
    "run npx wink in the folder of the project",
  );
}
