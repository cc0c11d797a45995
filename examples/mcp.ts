/** An agent with tools from an MCP server, which this file also contains and starts. */
// needs: @modelcontextprotocol/client
import { createInterface } from "node:readline";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
} from "weakincentives";
import { McpToolsSection } from "weakincentives/mcp";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";

await (process.argv[2] === "serve" ? serve() : askAboutWeather());

/** Starts this file as a server, and offers its tools to the model. */
async function askAboutWeather(): Promise<void> {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "What is the weather in Oslo?",
  });
  const weather = new McpToolsSection({
    server: {
      command: process.execPath,
      args: [...process.execArgv, process.argv[1] ?? "", "serve"],
      env: { STATION: "north" }, // the server also gets PATH and a few others, and no other variable
    },
    prefix: "weather_",
    exclude: ["delete_station"],
  });
  const template = new PromptTemplate({ ns: "demo", key: "weather", sections: [task, weather] });

  // A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
  const adapter: ProviderAdapter = process.argv.includes("--live")
    ? new OpenAIAdapter({ model: "gpt-5.2" })
    : scriptedClient(
        { toolCalls: [{ name: "weather_get_forecast", arguments: { city: "Oslo" } }] },
        { text: "It snows in Oslo, at 3 degrees below zero." },
      );

  const session = new Session();
  session.bus.subscribe("PromptRendered", ({ tools }) => {
    console.log(`Tools: ${tools.map(({ name }) => name).join(", ")}`);
  });
  session.bus.subscribe("ToolInvoked", ({ name, result }) => {
    console.log(`${name}: ${result.message}`);
    console.log(`The value for your program: ${JSON.stringify(result.value)}`);
  });
  const { text } = await adapter.evaluate(new Prompt(template), { session });
  console.log(text);
}

/** A server over stdio: one JSON-RPC message per line. Yours will use an MCP server package. */
async function serve(): Promise<void> {
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [
    { name: "get_forecast", description: "Returns the forecast.", inputSchema: city },
    { name: "delete_station", description: "Deletes the station.", inputSchema: city },
  ];
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    const results: Record<string, () => object> = {
      initialize: () => ({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "weather", version: "1.0.0" },
      }),
      "tools/list": () => ({ tools }),
      "tools/call": () => ({
        content: [{ type: "text", text: `Snow in ${params.arguments.city}, -3 °C.` }],
        structuredContent: { celsius: -3, station: process.env["STATION"] },
      }),
    };
    const result = results[method]?.();
    if (result) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
}
// prints: Tools: weather_get_forecast
// prints: weather_get_forecast: Snow in Oslo, -3 °C.
// prints: The value for your program: {"celsius":-3,"station":"north"}
// prints: It snows in Oslo, at 3 degrees below zero.
