import * as root from "weakincentives";
import * as z from "zod";
import type { Row } from "./row.ts";

const about = { name: "look", description: "Looks.", params: z.object({}) };
const handler = () => root.ToolResult.ok(null);

/** Tools, policies and resources of `weakincentives`. */
export const toolRows: readonly Row[] = [
  ["Tool", "descripton", "description", (o) => new root.Tool({ ...about, handler, ...Object(o) })],
  [
    "NativeTool",
    "exampels",
    "examples",
    (o) => new root.NativeTool({ ...about, result: z.object({}), ...Object(o) }),
  ],
  [
    "ProviderTool",
    "handleProviderOuput",
    "handleProviderOutput",
    (o) =>
      new root.ProviderTool({ ...about, provider: "openai", kind: "k", config: {}, ...Object(o) }),
  ],
  [
    "HostedTool",
    "providr",
    "provider",
    (o) =>
      new root.HostedTool({ kind: "k", name: "n", description: "D.", config: {}, ...Object(o) }),
  ],
  [
    'Tool "look" examples[0]',
    "ouput",
    "output",
    (o) => {
      const example = { description: "D.", input: {}, output: 1, ...Object(o) };
      return new root.Tool({ ...about, handler, examples: [example] });
    },
  ],
  [
    "sequentialDependency(options)",
    "afters",
    "after",
    (o) => root.sequentialDependency({ tool: "a", after: ["b"], ...Object(o) }),
  ],
  ["readBeforeWrite(options)", "readTool", "readTools", (o) => root.readBeforeWrite(o)],
  [
    "ResourceRegistry.bind(options)",
    "scop",
    "scope",
    (o) => new root.ResourceRegistry().bind(root.resource("a"), () => 1, o),
  ],
  ["webSearchTool(config)", "geoHnt", "geoHint", (o) => root.webSearchTool(o)],
  ["webSearchTool(options)", "nam", "name", (o) => root.webSearchTool({}, o)],
  [
    "webSearchTool(config).domainFilter",
    "alowed",
    "allowed",
    (o) => root.webSearchTool({ domainFilter: o }),
  ],
  [
    "fileSearchTool(config)",
    "maxResult",
    "maxResults",
    (o) => root.fileSearchTool({ vectorStoreIds: ["v"], ...Object(o) }),
  ],
  [
    "fileSearchTool(options)",
    "nmae",
    "name",
    (o) => root.fileSearchTool({ vectorStoreIds: ["v"] }, o),
  ],
  ["codeInterpreterTool(config)", "containr", "container", (o) => root.codeInterpreterTool(o)],
  ["codeInterpreterTool(options)", "nmae", "name", (o) => root.codeInterpreterTool({}, o)],
  [
    "codeInterpreterTool(config).container.hostMounts[0]",
    "hostpath",
    "hostPath",
    (o) => {
      const hostMounts = [{ hostPath: ".", ...Object(o) }];
      return root.codeInterpreterTool({ container: { type: "auto", hostMounts } });
    },
  ],
  ["shellTool(config)", "enviroment", "environment", (o) => root.shellTool(o)],
  ["shellTool(options)", "executer", "executor", (o) => root.shellTool({}, o)],
  ["applyPatchTool(options)", "fileSystem", "filesystem", (o) => root.applyPatchTool({}, o)],
  ["imageGenerationTool(config)", "qualty", "quality", (o) => root.imageGenerationTool(o)],
  ["imageGenerationTool(options)", "nmae", "name", (o) => root.imageGenerationTool({}, o)],
  [
    "mcpTool(config)",
    "serverURL",
    "serverUrl",
    (o) =>
      root.mcpTool({ serverLabel: "docs", serverUrl: "https://docs.example.com", ...Object(o) }),
  ],
  [
    "mcpTool(options)",
    "aprove",
    "approve",
    (o) => root.mcpTool({ serverLabel: "docs", serverUrl: "https://docs.example.com" }, o),
  ],
];
