import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";
import type { EventBus, Session } from "weakincentives";
import { type InstrumentOptions, instrument } from "weakincentives/telemetry";

/** Settings of {@link createTraceFixture}. */
export interface TraceFixtureOptions {
  /** Whether the active context follows calls, as it does in a program that registers the SDK. @default true */
  readonly hasContextManager?: boolean;
}

/** Collects spans and metrics with the SDK's exporters in memory, until the test ends. */
export function createTraceFixture({ hasContextManager = true }: TraceFixtureOptions = {}) {
  if (hasContextManager) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    onTestFinished(() => context.disable());
  }
  const exporter = new InMemorySpanExporter();
  const started: string[] = [];
  const order: SpanProcessor = {
    onStart: (span) => void started.push(span.spanContext().spanId),
    onEnd: () => {},
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = new BasicTracerProvider({
    spanProcessors: [order, new SimpleSpanProcessor(exporter)],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const meters = new MeterProvider({ readers: [reader] });
  const tracer = provider.getTracer("test");
  const meter = meters.getMeter("test");
  onTestFinished(async () => {
    await meters.shutdown();
    await provider.shutdown();
  });
  return {
    tracer,
    meter,
    /** Instruments a session or a bus until the test ends. */
    instrument: (target: Session | EventBus, options: InstrumentOptions = {}): Disposable => {
      const telemetry = instrument(target, { tracer, meter, ...options });
      onTestFinished(() => telemetry[Symbol.dispose]());
      return telemetry;
    },
    /** The spans that have ended, in the order in which they started. */
    listSpans: (): readonly ReadableSpan[] => {
      const findPlace = (span: ReadableSpan) => started.indexOf(span.spanContext().spanId);
      return exporter.getFinishedSpans().toSorted((a, b) => findPlace(a) - findPlace(b));
    },
    /** The number of spans that have started and not ended. */
    countOpen: (): number => started.length - exporter.getFinishedSpans().length,
    findSpan: (name: string): ReadableSpan => {
      const found = exporter.getFinishedSpans().find((span) => span.name === name);
      if (!found) throw new Error(`There is no span "${name}".`);
      return found;
    },
    /** The points of each metric, by name. */
    readMetrics: async () => {
      await meters.forceFlush();
      const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? [];
      const all = scopes.flatMap(({ metrics }) => metrics);
      return new Map(all.map((metric) => [metric.descriptor.name, metric]));
    },
  };
}

/** Formats spans as a tree: one line per span, indented below its parent, with its status if it failed. */
export function formatTree(spans: readonly ReadableSpan[]): readonly string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const format = (span: ReadableSpan, depth: number): readonly string[] => [
    `${"  ".repeat(depth)}${span.name}${span.status.code === 2 ? " (error)" : ""}`,
    ...spans
      .filter((child) => child.parentSpanContext?.spanId === span.spanContext().spanId)
      .flatMap((child) => format(child, depth + 1)),
  ];
  return spans
    .filter(({ parentSpanContext }) => !ids.has(parentSpanContext?.spanId ?? ""))
    .flatMap((root) => format(root, 0));
}

/** Returns whether two spans ran at the same time. */
export function doOverlap(one: ReadableSpan, other: ReadableSpan): boolean {
  const isBefore = (a: ReadableSpan, b: ReadableSpan) =>
    toMicroseconds(a.endTime) <= toMicroseconds(b.startTime);
  return !isBefore(one, other) && !isBefore(other, one);
}

export function toMicroseconds([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000_000 + nanoseconds / 1_000;
}
