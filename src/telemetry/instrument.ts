import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { type EventBus, observeWork } from "../session/event-bus.ts";
import { Session } from "../session/session.ts";
import { TRACED_EVENTS } from "./evaluation-trace.ts";
import {
  isOpenTelemetryApi,
  loadOpenTelemetry,
  type Meter,
  type OpenTelemetryApi,
  type Tracer,
} from "./load-open-telemetry.ts";
import { OpenTraces } from "./open-traces.ts";
import { OperationMetrics } from "./operation-metrics.ts";

/** A tracer of `@opentelemetry/api`, as far as it is used here. */
export interface TelemetryTracer {
  /** Starts a span. */
  startSpan(name: string, options?: object, context?: object): object;
}

/** A meter of `@opentelemetry/api`, as far as it is used here. */
export interface TelemetryMeter {
  /** Creates a histogram. */
  createHistogram(name: string, options?: object): object;
}

/** The module `@opentelemetry/api`, as far as it is used here. */
export interface TelemetryApi {
  /** Spans. */
  readonly trace: object;
  /** The active context. */
  readonly context: object;
  /** Histograms. */
  readonly metrics: object;
}

/** Options of {@link instrument}. */
export interface InstrumentOptions {
  /** Creates the spans. @default the tracer `"weakincentives"` of the registered provider */
  readonly tracer?: TelemetryTracer | undefined;
  /** Creates the histograms. @default the meter `"weakincentives"` of the registered provider */
  readonly meter?: TelemetryMeter | undefined;
  /**
   * Whether spans have content: the texts of prompts and answers, the arguments and results of calls, the definitions
   * of tools, and the messages of errors. @default false
   */
  readonly captureContent?: boolean | undefined;
  /** Number of characters of content in one attribute. The rest is replaced by its length. @default 8192 */
  readonly maxContentLength?: number | undefined;
  /** The module `@opentelemetry/api`, for bundles, in which it cannot be looked up. @default the installed package */
  readonly api?: TelemetryApi | undefined;
}

const instrumentKeys: KnownKeys<InstrumentOptions> = {
  api: true,
  captureContent: true,
  maxContentLength: true,
  meter: true,
  tracer: true,
};

/**
 * Creates OpenTelemetry spans and metrics for all evaluations on a session, or on a bus that several sessions share:
 * `invoke_agent` for an evaluation, `chat` for a request with its retries, and `execute_tool` for a call, local or
 * hosted. The spans of a handler are children of its call. Register the OpenTelemetry SDK first. Dispose the result to
 * stop; this ends the spans that are open.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { instrument } from "weakincentives/telemetry";
 *
 * const session = new Session();
 * using telemetry = instrument(session); // evaluations on the session are traced until the block ends
 * ```
 */
export function instrument(
  sessionOrBus: Session | EventBus,
  options: InstrumentOptions = {},
): Disposable {
  checkTarget(sessionOrBus);
  const { tracer, meter, ...settings } = checkInstrumentOptions(options);
  const { api } = settings;
  const isSession = sessionOrBus instanceof Session;
  const bus = isSession ? sessionOrBus.bus : sessionOrBus;
  const scope = [SCOPE_NAME, VERSION, { schemaUrl: SCHEMA_URL }] as const;
  const traces = new OpenTraces({
    ...settings,
    tracer: tracer ?? api.trace.getTracerProvider().getTracer(...scope),
    metrics: new OperationMetrics(meter ?? api.metrics.getMeter(...scope), api),
    sessionId: isSession ? sessionOrBus.id : null,
  });
  const subscriptions = [
    observeWork(bus, (work, run) => traces.observe(work, run)),
    ...TRACED_EVENTS.map((type) => bus.subscribe(type, (event) => traces.record(event))),
  ];
  return {
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      traces.close();
    },
  };
}

/** Name of the instrumentation scope. */
const SCOPE_NAME = "weakincentives";

/** The version of the semantic conventions that the names of attributes and metrics come from. */
const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";

function checkTarget(target: Session | EventBus): void {
  if (target instanceof Session) return;
  const { publish, subscribe } = Object(target) as Partial<EventBus>;
  if (typeof publish === "function" && typeof subscribe === "function") return;
  const rule = "must be a session or an event bus";
  throw refuse("sessionOrBus", target, rule, "pass a Session, or the bus of your sessions");
}

/** Checks the options, and loads the package if it is not one of them. */
function checkInstrumentOptions(options: InstrumentOptions) {
  checkKnownKeys(options, "instrument(options)", instrumentKeys);
  const { tracer, meter, captureContent = false, maxContentLength = 8_192 } = options;
  if (tracer !== undefined && !isTracer(tracer)) {
    const remedy = "omit it for the tracer of the registered provider";
    throw refuse("tracer", tracer, "must be an OpenTelemetry tracer", remedy);
  }
  if (meter !== undefined && !isMeter(meter)) {
    const remedy = "omit it for the meter of the registered provider";
    throw refuse("meter", meter, "must be an OpenTelemetry meter", remedy);
  }
  if (typeof captureContent !== "boolean") {
    throw refuse("captureContent", captureContent, "must be a boolean", "use true or false");
  }
  if (!Number.isSafeInteger(maxContentLength) || maxContentLength <= 0) {
    const remedy = "omit it for 8192";
    throw refuse("maxContentLength", maxContentLength, "must be a positive integer", remedy);
  }
  const contentLength = captureContent ? maxContentLength : null;
  return { tracer, meter, maxContentLength: contentLength, api: chooseApi(options.api) };
}

function chooseApi(given: TelemetryApi | undefined): OpenTelemetryApi {
  if (given === undefined) return loadOpenTelemetry();
  if (isOpenTelemetryApi(given)) return given;
  const rule = "must be the module @opentelemetry/api";
  throw refuse("api", given, rule, "omit it for the installed package");
}

function isTracer(value: TelemetryTracer): value is Tracer {
  return typeof value?.startSpan === "function";
}

function isMeter(value: TelemetryMeter): value is Meter {
  return typeof value?.createHistogram === "function";
}

const refuse = InvalidOptionError.at((name) => `instrument(${name})`);
