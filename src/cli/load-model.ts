import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import type { LocalModel } from "../local/models/local-model.ts";
import { type ModelScript, scriptedModel } from "../local/models/scripted-model.ts";
import { upstreamModel } from "../local/models/upstream/upstream-model.ts";

/** The model selected on the command line: a script, an upstream server, or neither. */
export interface ModelChoice {
  /** Path of a script. */
  readonly script?: string | undefined;
  readonly upstream?: UpstreamChoice | undefined;
}

/** The model server selected on the command line. */
export interface UpstreamChoice {
  readonly baseURL: string;
  readonly model: string;
  /** The key that the server requires. It is never printed. @default none */
  readonly apiKey?: string | undefined;
}

/** The selected model and its display name. */
export interface ServedModel {
  /** The model, or `undefined` for the provider's default, an echo. */
  readonly model: LocalModel | undefined;
  readonly name: string;
}

/** Name of the provider's default model. */
export const ECHO = "echo";

/** Loads the script or connects to the upstream server. Without either, uses the echo. */
export async function loadModel({ script, upstream }: ModelChoice): Promise<ServedModel> {
  if (upstream) {
    return { model: upstreamModel(upstream), name: `${upstream.model} at ${upstream.baseURL}` };
  }
  if (script === undefined) return { model: undefined, name: ECHO };
  return { model: createModel(await loadScript(script), script), name: script };
}

const refuse = InvalidOptionError.at("--model");

const MODULES = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];

async function loadScript(path: string): Promise<unknown> {
  const extension = extname(path).toLowerCase();
  if (extension === ".json") return await readJson(path);
  if (!MODULES.includes(extension)) {
    throw refuse("", path, `must end in .json or ${MODULES.join(", ")}`, "rename the file");
  }
  const module: unknown = await import(pathToFileURL(resolve(path)).href).catch(
    (cause: unknown) => {
      throw refuse("", path, "must be a module that can be loaded", getErrorMessage(cause), {
        cause,
      });
    },
  );
  if (typeof module === "object" && module !== null && "default" in module) return module.default;
  const remedy = "export default an array of turns, a function of the request, or a LocalModel";
  throw refuse("", path, "must have a default export", remedy);
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw refuse("", path, "must be a readable file", getErrorMessage(cause), { cause });
  });
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw refuse("", path, "must contain JSON", parsed.problem);
}

/** Creates the model from a script. Errors in the script name its file. */
function createModel(content: unknown, path: string): LocalModel {
  if (isModel(content)) return content;
  if (!isScript(content)) {
    const rule = "must be an array of turns, a function of the request, or a LocalModel";
    throw refuse("", path, rule, 'use [[{ "say": "Hello." }]], with one inner array per turn');
  }
  try {
    return scriptedModel(content);
  } catch (error) {
    throw error instanceof InvalidOptionError ? error.withField(`${path}: ${error.field}`) : error;
  }
}

function isModel(content: unknown): content is LocalModel {
  if (typeof content !== "object" || content === null) return false;
  return "respond" in content && typeof content.respond === "function";
}

/** Checks only the outer type. `scriptedModel` checks the turns. */
function isScript(content: unknown): content is ModelScript {
  return Array.isArray(content) || typeof content === "function";
}
