import { isPlainObject } from "../../../base/freeze.ts";
import type { ModelAction } from "../../model-action.ts";
import { isOfType } from "../forced-choice.ts";

/** A hosted tool, or a part of one, as a function that any model can call. */
export interface HostedFunction {
  /** Unless the client has a function of that name. */
  readonly name: string;
  /** Of the tool in the request. */
  readonly type: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What a call comes to; `null` if its arguments do not fit. */
  action(args: Readonly<Record<string, unknown>>): ModelAction | null;
}

/** Every hosted tool that is run here or handed to the client, in the words of function calling. */
export const hostedFunctions: readonly HostedFunction[] = [
  {
    name: "python",
    type: "code_interpreter",
    description:
      "Runs Python in a sandbox without network and gives back what it printed. State is kept between calls. Files are in /mnt/data; save there what is to be kept.",
    parameters: texts({ code: "The Python code to run." }),
    action: ({ code }) => (isText(code) ? { code } : null),
  },
  {
    name: "shell",
    type: "shell",
    description: "Runs shell commands one after the other and gives back what each printed.",
    parameters: schemaOf({
      commands: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        description: "The commands to run.",
      },
    }),
    action({ commands }) {
      const all = isText(commands) ? [commands] : commands; // models often give just one
      return Array.isArray(all) && all.length > 0 && all.every(isText) ? { shell: all } : null;
    },
  },
  {
    name: "file_search",
    type: "file_search",
    description: "Searches the files that were given and gives back the passages that fit best.",
    parameters: texts({ query: "What to look for, in words." }),
    action: ({ query }) => (isText(query) ? { search: { file: query } } : null),
  },
  {
    name: "web_search",
    type: "web_search",
    description: "Searches the web and gives back pages with their addresses.",
    parameters: texts({ query: "What to look for, in words." }),
    action: ({ query }) => (isText(query) ? { search: { web: query } } : null),
  },
  {
    name: "open_page",
    type: "web_search",
    description: "Opens a page that a web search found and gives back its text.",
    parameters: texts({ url: "The page's address." }),
    action: ({ url }) => (isText(url) ? { search: { open: url } } : null),
  },
  {
    name: "find_in_page",
    type: "web_search",
    description: "Gives back the places in a page where some words are.",
    parameters: texts({ url: "The page's address.", pattern: "The words to look for." }),
    action: ({ url, pattern }) =>
      isText(url) && isText(pattern) ? { search: { find: pattern, in: url } } : null,
  },
  {
    name: "apply_patch",
    type: "apply_patch",
    description:
      "Creates, changes and deletes files. A diff has a line starting with + for each added line; to change a file, also lines starting with - for removed ones and with a space for those around them, in sections that start with @@.",
    parameters: schemaOf({
      operations: { type: "array", items: operationSchema(), minItems: 1 },
    }),
    action({ operations, ...alone }) {
      const all = Array.isArray(operations) ? operations : [operations ?? alone];
      return all.length > 0 && all.every(isOperation) ? { patch: all } : null;
    },
  },
];

/** The functions of a tool of the request; none if it is no hosted one that is known. */
export function functionsOf(tool: object): readonly HostedFunction[] {
  const { type }: { readonly type?: unknown } = tool;
  return hostedFunctions.filter((one) => isOfType(type, one.type));
}

function texts(descriptions: Readonly<Record<string, string>>) {
  return schemaOf(
    Object.fromEntries(
      Object.entries(descriptions).map(([name, description]) => [
        name,
        { type: "string", description },
      ]),
    ),
  );
}

function schemaOf(properties: Readonly<Record<string, object>>) {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function operationSchema() {
  return {
    type: "object",
    properties: {
      type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
      path: { type: "string", description: "The file's path." },
      diff: { type: "string", description: "What to write or change; left out to delete." },
    },
    required: ["type", "path"],
    additionalProperties: false,
  };
}

function isOperation(value: unknown): value is object {
  if (!isPlainObject(value) || !isText(value["path"])) return false;
  if (value["type"] === "delete_file") return true;
  const isWriting = value["type"] === "create_file" || value["type"] === "update_file";
  return isWriting && isText(value["diff"]);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
