import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { InvalidOptionError, messageOf } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import type { LocalModel } from "../local/models/local-model.ts";
import { type ModelScript, scriptedModel } from "../local/models/scripted-model.ts";
import { upstreamModel } from "../local/models/upstream/upstream-model.ts";

/** Which model a command line asks for: at most one of the two. */
export interface ModelChoice {
  /** The path of a script. */
  readonly script?: string | undefined;
  readonly upstream?: { readonly baseURL: string; readonly model: string } | undefined;
}

/** The model that was asked for, and what people call it. */
export interface ServedModel {
  /** `undefined`: the provider's own, an echo. */
  readonly model: LocalModel | undefined;
  readonly name: string;
}

/** What the provider's own model is called. */
export const ECHO = "echo";

/** Reads the script, or reaches for the upstream; without either it is an echo. */
export async function servedModel({ script, upstream }: ModelChoice): Promise<ServedModel> {
  if (upstream) {
    return { model: upstreamModel(upstream), name: `${upstream.model} at ${upstream.baseURL}` };
  }
  if (script === undefined) return { model: undefined, name: ECHO };
  return { model: modelOf(await contentOf(script), script), name: script };
}

const refuse = InvalidOptionError.at("--model");

const MODULES = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];

async function contentOf(path: string): Promise<unknown> {
  const extension = extname(path).toLowerCase();
  if (extension === ".json") return await jsonIn(path);
  if (!MODULES.includes(extension)) {
    throw refuse("", path, `must end in .json or ${MODULES.join(", ")}`, "rename it");
  }
  const module: unknown = await import(pathToFileURL(resolve(path)).href).catch(
    (cause: unknown) => {
      throw refuse("", path, "must be a module that can be loaded", messageOf(cause), { cause });
    },
  );
  if (typeof module === "object" && module !== null && "default" in module) return module.default;
  const remedy = "export default a list of turns, a function of the request, or a LocalModel";
  throw refuse("", path, "must have a default export", remedy);
}

async function jsonIn(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw refuse("", path, "must be a file that can be read", messageOf(cause), { cause });
  });
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw refuse("", path, "must hold JSON", parsed.problem);
}

/** What is wrong within a script is told with the file that it is in. */
function modelOf(content: unknown, path: string): LocalModel {
  if (isModel(content)) return content;
  if (!isScript(content)) {
    const rule = "must be a list of turns, a function of the request, or a LocalModel";
    throw refuse("", path, rule, 'write [[{ "say": "Hello." }]]: one inner list a turn');
  }
  try {
    return scriptedModel(content);
  } catch (error) {
    throw error instanceof InvalidOptionError ? error.renamed(`${path}: ${error.field}`) : error;
  }
}

function isModel(content: unknown): content is LocalModel {
  if (typeof content !== "object" || content === null) return false;
  return "respond" in content && typeof content.respond === "function";
}

/** What its turns hold, `scriptedModel` looks at. */
function isScript(content: unknown): content is ModelScript {
  return Array.isArray(content) || typeof content === "function";
}
