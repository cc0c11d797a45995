import { findBuiltinModule } from "../base/call-fence.ts";
import { describeLoadFailure } from "../base/describe-load-failure.ts";
import { WinkError } from "../base/errors.ts";

export type {
  Attributes,
  Context,
  Histogram,
  Meter,
  Span,
  Tracer,
} from "@opentelemetry/api";

/** The module `@opentelemetry/api`. */
export type OpenTelemetryApi = typeof import("@opentelemetry/api");

/**
 * Loads `@opentelemetry/api`, an optional peer dependency, without waiting. Its copies share their providers, so it does
 * not matter that the caller's program imports another form of the package. No other file imports its code.
 */
export function loadOpenTelemetry(load: () => unknown = requirePackage): OpenTelemetryApi {
  let loaded: unknown;
  try {
    loaded = load();
  } catch (cause) {
    throw new WinkError(`${PACKAGE} ${describeLoadFailure(cause)}. Run npm install ${PACKAGE}.`, {
      cause,
    });
  }
  if (isOpenTelemetryApi(loaded)) return loaded;
  const remedy = `Pass it: instrument(session, { api }), with import * as api from "${PACKAGE}".`;
  throw new WinkError(`${PACKAGE} cannot be looked up on this runtime. ${remedy}`);
}

/** Returns whether a value is the module `@opentelemetry/api`, as far as it is used. */
export function isOpenTelemetryApi(value: unknown): value is OpenTelemetryApi {
  const { trace, context, metrics, createContextKey } = Object(value) as Partial<OpenTelemetryApi>;
  if (typeof trace?.setSpan !== "function" || typeof context?.with !== "function") return false;
  return typeof metrics?.getMeter === "function" && typeof createContextKey === "function";
}

const PACKAGE = "@opentelemetry/api";

/** Returns the installed package; `null` on runtimes that cannot look packages up. */
function requirePackage(): unknown {
  const module = findBuiltinModule("node:module") as
    | { readonly createRequire: (from: string) => (name: string) => unknown }
    | undefined;
  return module?.createRequire(import.meta.url)(PACKAGE) ?? null;
}
