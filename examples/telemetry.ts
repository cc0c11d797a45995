/** Traces an agent with OpenTelemetry. A small collector in this file receives the spans and prints them as a tree. */
// needs: @opentelemetry/api, @opentelemetry/context-async-hooks, @opentelemetry/exporter-trace-otlp-http, @opentelemetry/sdk-trace-base
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { instrument } from "weakincentives/telemetry";
import { scriptedClient } from "weakincentives/testing";

/** A span as the protocol OTLP/HTTP transfers it, as far as this file reads it. */
interface OtlpSpan {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
}

// The collector. Yours is a program such as the OpenTelemetry Collector, or an address of your vendor.
const received: OtlpSpan[] = [];
const collector = createServer(async (request, response) => {
  const { resourceSpans } = (await json(request)) as {
    readonly resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[];
  };
  received.push(
    ...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
  response.setHeader("content-type", "application/json").end("{}");
});
await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
const { port } = collector.address() as AddressInfo;

// The OpenTelemetry SDK. Register it before you call instrument().
const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${port}/v1/traces` });
const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

// The agent. Its handler creates a span, as an instrumented database client does.
const count = new Tool({
  name: "count_orders",
  description: "Counts the orders of today.",
  params: null,
  handler: () =>
    trace.getTracer("shop").startActiveSpan("SELECT orders", (span) => {
      span.end();
      return ToolResult.ok({ orders: 12 });
    }),
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Compare the orders of today with the news.",
  tools: [count],
  hostedTools: [webSearchTool()],
});
const template = new PromptTemplate({ ns: "shop", key: "report", sections: [task] });

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const adapter: ProviderAdapter = process.argv.includes("--live")
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(
      {
        toolCalls: [{ name: "count_orders" }],
        hostedCalls: [{ name: "web_search", kind: "web_search", output: null }],
      },
      { text: "12 orders, and no news." },
    );

const session = new Session();
const telemetry = instrument(session); // content is off: no prompt, no answer, no argument
const { text } = await adapter.evaluate(new Prompt(template), { session });
console.log(text);

telemetry[Symbol.dispose]();
await provider.shutdown(); // sends the remaining spans
collector.close();
printBelow(undefined, "");

/** Prints the spans below a parent, in the order in which they started. */
function printBelow(parent: string | undefined, indent: string): void {
  const children = received.filter(({ parentSpanId }) => parentSpanId === parent);
  children.sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
  for (const { spanId, name } of children) {
    console.log(`${indent}${name}`);
    printBelow(spanId, `${indent}  `);
  }
}
// prints: 12 orders, and no news.
// prints: invoke_agent shop:report
// prints:   chat
// prints:     execute_tool web_search
// prints:   execute_tool count_orders
// prints:     SELECT orders
// prints:   chat
