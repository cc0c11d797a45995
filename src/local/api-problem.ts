/** An API error with OpenAI's wording and HTTP status. Routes throw it. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  /** `"invalid_request_error"`, `"server_error"`, … */
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
  /** Extra response headers, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Facts for programs, which Anthropic's format has as `error.details`. OpenAI's format omits them. */
  readonly facts: object | null;

  constructor(status: number, message: string, details: ApiProblemDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = status;
    this.type = details.type ?? (status >= 500 ? "server_error" : "invalid_request_error");
    this.param = details.param ?? null;
    this.code = details.code ?? null;
    this.headers = details.headers ?? {};
    this.facts = details.facts ?? null;
  }

  /** The JSON error body that clients parse. */
  get body(): { readonly error: object } {
    const { message, type, param, code } = this;
    return { error: { message, type, param, code } };
  }
}

/** The fields of an error that an error event of a stream shows. */
export type EventError = Pick<ApiProblem, "type" | "code" | "message" | "param">;

/** Returns the fields of an error that an error event shows. */
export function toEventError({ type, code, message, param }: EventError): EventError {
  return { type, code, message, param };
}

/** Optional fields of an {@link ApiProblem}. Omitted ones are derived from the status or `null`. */
export interface ApiProblemDetails {
  readonly type?: string | undefined;
  readonly param?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly facts?: object | undefined;
  /** The error behind it. Clients do not see it. */
  readonly cause?: unknown;
}

/** `404 Response with id 'resp_1' not found.`, OpenAI's wording for most resources. */
export function notFound(what: string, id: string): ApiProblem {
  const param = what === "Response" ? null : "id"; // as recorded from the real API
  return new ApiProblem(404, `${what} with id '${id}' not found.`, { param });
}

/** `400 Unknown parameter: 'tools[0].foo'.` */
export function unknownParameter(param: string): ApiProblem {
  return new ApiProblem(400, `Unknown parameter: '${param}'.`, {
    param,
    code: "unknown_parameter",
  });
}

/** `400 Missing required parameter: 'model'.` */
export function createMissingParameterProblem(param: string): ApiProblem {
  const code = "missing_required_parameter";
  return new ApiProblem(400, `Missing required parameter: '${param}'.`, { param, code });
}

/** `400 Unsupported parameter: 'prompt' is not supported by this server.`, and the remedy. */
export function createUnsupportedProblem(param: string, remedy: string): ApiProblem {
  const message = `Unsupported parameter: '${param}' is not supported by this server. ${remedy}`;
  return new ApiProblem(400, message, { param, code: "unsupported_parameter" });
}

/** `400 Invalid value: 'x'. Supported values are: 'a', 'b', and 'c'.` */
export function invalidValue(param: string, value: unknown, known: readonly string[]): ApiProblem {
  const list = known.map((one) => `'${one}'`);
  const last = list.pop();
  const all =
    list.length === 0 ? `${last}` : `${list.join(", ")}${list.length > 1 ? "," : ""} and ${last}`;
  const message = `Invalid value: '${String(value)}'. Supported values are: ${all}.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}

/** `400 Invalid type for 'input': expected a string, but got a number instead.` */
export function invalidType(param: string, expected: string, value: unknown): ApiProblem {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${describeType(value)} instead.`;
  return new ApiProblem(400, message, { param, code: "invalid_type" });
}

function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal number";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
