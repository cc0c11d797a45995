import { BufferedResponse } from "./buffered-response.ts";
import { RouteRequest } from "./route-request.ts";

/** A request, and the headers of its response. */
export class RouteContext {
  readonly req: RouteRequest;
  readonly #headers: Record<string, string> = {};

  constructor(request: Request) {
    this.req = new RouteRequest(request);
  }

  /** Sets a header of the response that `json` creates. The name must be lowercase. */
  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Creates a response with a JSON body. `headers` replace those of `setHeader`; their names must be lowercase. */
  json(
    body: unknown,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): BufferedResponse {
    const all = { ...this.#headers, "content-type": "application/json", ...headers };
    return new BufferedResponse(JSON.stringify(body), all, status);
  }
}
