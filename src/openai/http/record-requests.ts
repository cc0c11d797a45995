import { readSecrets, SECRETS } from "../secrets.ts";
import type { CallOptions, OpenAIClient } from "./client.ts";
import { type EgressLog, type EgressNote, egressNote } from "./egress-log.ts";
import { HttpClient } from "./http-client.ts";
import type { HttpRequest } from "./transport.ts";

/** Options of a call with a note for the report. */
export interface NotedOptions extends CallOptions {
  readonly [egressNote]?: EgressNote | undefined;
}

/**
 * Returns a client that sends the same requests and records them. The built-in client records the bodies that it sends. The
 * requests of other clients are recorded as they are described to the client, which serializes them itself.
 */
export function recordRequests(client: OpenAIClient, log: EgressLog): OpenAIClient {
  return client instanceof HttpClient ? client.record(log) : wrapClient(client, log);
}

function wrapClient(client: OpenAIClient, log: EgressLog): OpenAIClient {
  const recorder = new Recorder(log);
  return {
    responses: wrapResponses(client.responses, recorder),
    containers: wrapContainers(client.containers, recorder),
    files: wrapFiles(client.files, recorder),
    ...{ [SECRETS]: () => readSecrets(client) },
  };
}

/** Records the requests of a client that does not show them. */
class Recorder {
  readonly #log: EgressLog;

  constructor(log: EgressLog) {
    this.#log = log;
  }

  /** Records a request and its outcome. */
  async send<Result>(
    endpoint: string,
    { body = null, options }: RecordedCall,
    request: () => PromiseLike<Result>,
  ): Promise<Result> {
    const sent = this.begin(endpoint, { body, options });
    try {
      const result = await request();
      this.#log.complete(sent, result);
      return result;
    } catch (error) {
      this.#log.fail(sent, error);
      throw error;
    }
  }

  /** Records a request whose promise must be returned as it is, because it has more than `then`. */
  begin(endpoint: string, { body = null, options }: RecordedCall) {
    const [method = "", path = ""] = endpoint.split(" ");
    const note = (options as NotedOptions | undefined)?.[egressNote];
    const isMeasured = note?.bytes !== undefined && note.digest !== undefined;
    const text = body === null || isMeasured ? null : JSON.stringify(body);
    return this.#log.begin({ method: method as HttpRequest["method"], path, body: text }, note);
  }
}

interface RecordedCall {
  readonly body?: object | null | undefined;
  readonly options: CallOptions | undefined;
}

function wrapResponses(
  responses: OpenAIClient["responses"],
  recorder: Recorder,
): OpenAIClient["responses"] {
  const { retrieve, cancel, compact, inputTokens, stream } = responses;
  return {
    ...("stream" in responses && { stream }),
    create: (body, options) => {
      recorder.begin("POST /responses", { body, options });
      return responses.create(body, options);
    },
    ...(retrieve && {
      retrieve: (id, query, options) => {
        recorder.begin(`GET /responses/${encodeURIComponent(id)}`, { options });
        return retrieve.call(responses, id, query, options);
      },
    }),
    ...(cancel && {
      cancel: (id, options) =>
        recorder.send(`POST /responses/${encodeURIComponent(id)}/cancel`, { options }, () =>
          cancel.call(responses, id, options),
        ),
    }),
    ...(compact && {
      compact: (body, options) =>
        recorder.send("POST /responses/compact", { body, options }, () =>
          compact.call(responses, body, options),
        ),
    }),
    ...(inputTokens && {
      inputTokens: {
        count: (body, options) =>
          recorder.send("POST /responses/input_tokens", { body, options }, () =>
            inputTokens.count(body, options),
          ),
      },
    }),
  };
}

function wrapContainers(
  containers: OpenAIClient["containers"],
  recorder: Recorder,
): OpenAIClient["containers"] {
  const toPath = (id: string) => `/containers/${encodeURIComponent(id)}`;
  const { files } = containers;
  return {
    create: (body, options) =>
      recorder.send("POST /containers", { body, options }, () => containers.create(body, options)),
    retrieve: (id, options) =>
      recorder.send(`GET ${toPath(id)}`, { options }, () => containers.retrieve(id, options)),
    delete: (id, options) =>
      recorder.send(`DELETE ${toPath(id)}`, { options }, () => containers.delete(id, options)),
    files: {
      create: (id, body, options) =>
        recorder.send(
          `POST ${toPath(id)}/files`,
          { body: "file" in body ? null : body, options },
          () => files.create(id, body, options),
        ),
      list: (id, query, options) =>
        recorder.send(`GET ${toPath(id)}/files`, { options }, () => files.list(id, query, options)),
      delete: (fileId, params, options) =>
        recorder.send(
          `DELETE ${toPath(params.container_id)}/files/${encodeURIComponent(fileId)}`,
          { options },
          () => files.delete(fileId, params, options),
        ),
      content: {
        retrieve: (fileId, params, options) =>
          recorder.send(
            `GET ${toPath(params.container_id)}/files/${encodeURIComponent(fileId)}/content`,
            { options },
            () => files.content.retrieve(fileId, params, options),
          ),
      },
    },
  };
}

function wrapFiles(files: OpenAIClient["files"], recorder: Recorder): OpenAIClient["files"] {
  const { delete: remove } = files;
  const toPath = (id: string) => `/files/${encodeURIComponent(id)}`;
  return {
    create: (body, options) =>
      recorder.send("POST /files", { options }, () => files.create(body, options)),
    content: (id, options) =>
      recorder.send(`GET ${toPath(id)}/content`, { options }, () => files.content(id, options)),
    ...(remove && {
      delete: (id, options) =>
        recorder.send(`DELETE ${toPath(id)}`, { options }, () => remove.call(files, id, options)),
    }),
  };
}
