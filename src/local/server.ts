import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { raceAbort } from "../base/clock.ts";
import type { ApiProblem } from "./api-problem.ts";
import { ChatCompletions } from "./chat/chat-completions.ts";
import { CompletionStore } from "./chat/completion-store.ts";
import { Containers } from "./containers/containers.ts";
import { ContainerDisks } from "./containers/disks/container-disks.ts";
import { findDiskSupport } from "./containers/disks/find-disk-support.ts";
import { ConversationStore } from "./conversations/conversation-store.ts";
import type { BufferedResponse } from "./http/buffered-response.ts";
import { type Api, createApi } from "./http/create-api.ts";
import { createRefusal } from "./http/create-refusal.ts";
import { RequestLog } from "./http/request-log.ts";
import { type Ids, randomIds } from "./ids.ts";
import { echoModel } from "./models/echo-model.ts";
import type { LocalModel } from "./models/local-model.ts";
import { isTrustedModel } from "./models/trusted-models.ts";
import type { ProviderSettings } from "./provider-options.ts";
import { BackgroundResponses } from "./responses/background/background-responses.ts";
import { Conversations } from "./responses/conversation/conversations.ts";
import { NamedConversations } from "./responses/conversation/named-conversations.ts";
import { Threads } from "./responses/conversation/threads.ts";
import { anthropicRoutes } from "./routes/anthropic.ts";
import { chatCompletionRoutes } from "./routes/chat-completions.ts";
import { compactionRoutes } from "./routes/compaction.ts";
import { containerRoutes } from "./routes/containers.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { fileRoutes } from "./routes/files.ts";
import { modelRoutes } from "./routes/models.ts";
import { responseLifecycleRoutes } from "./routes/response-lifecycle.ts";
import { responseRoutes } from "./routes/responses.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { vectorStoreRoutes } from "./routes/vector-stores.ts";
import { RunningTurns } from "./running-turns.ts";
import { DEFAULT_DISK_BYTES } from "./sandbox/container-limits.ts";
import { GradedSandbox } from "./sandbox/graded-sandbox.ts";
import { LazySandbox } from "./sandbox/lazy-sandbox.ts";
import { VectorStores } from "./search/vector-stores.ts";
import type { ConnectionServices } from "./socket/responses-connection.ts";
import { openDatabase } from "./store/database.ts";
import { FileStore } from "./store/file-store.ts";
import { readPrivateKey } from "./store/private-file.ts";
import { ResponseStore } from "./store/response-store.ts";
import { builtInTools } from "./tools/index.ts";
import { ToolCatalog } from "./tools/tool-catalog.ts";
import type { ToolServices } from "./tools/tool-services.ts";
import { ModelSteps } from "./turn/model-steps.ts";
import { sealer } from "./turn/sealer.ts";
import type { TurnServices } from "./turn/turn.ts";
import { Uploads } from "./uploads/uploads.ts";
import type { WebPages } from "./web/web-pages.ts";

/** The running API and its services. */
export interface LocalServer extends AsyncDisposable {
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  readonly api: Api;
  readonly sandbox: GradedSandbox;
  /** Creates the response to a request from a socket that no route may see, and logs it. */
  readonly refuse: (incoming: IncomingMessage, problem: ApiProblem) => BufferedResponse;
  /** Services for WebSocket connections. */
  readonly connections: ConnectionServices;
}

/** The settings of a provider whose data folder is known. */
type ServerSettings = ProviderSettings & { readonly dataDir: string };

/** Opens the database and registers all routes. `onEnd` is called after the server has closed. */
export async function startServer(
  settings: ServerSettings,
  onEnd: () => void,
): Promise<LocalServer> {
  const { dataDir, clock, limits, onFault, onRequest, apiKey = null } = settings;
  const ids = randomIds();
  const sandbox = createSandbox(settings);
  await sandbox.check();
  const database = openDatabase(dataDir);
  const web = await openWebPages(settings.web, database);
  const { maxInterpreters, maxContainers, maxStoredBytes } = limits;
  const files = new FileStore({
    ...{ database, dataDir, clock, ids },
    maxStoredBytes,
  });
  const uploads = new Uploads({ database, files, dataDir, clock, ids, onFault });
  const disks = new ContainerDisks({ dataDir, bytes: DEFAULT_DISK_BYTES });
  const containers = new Containers({
    ...{ database, files, dataDir, sandbox, clock, ids, disks },
    limits: { maxInterpreters, maxContainers },
  });
  const vectorStores = new VectorStores({ database, files, clock, ids, onFault });
  const store = new ResponseStore(database);
  const turns = createTurnServices(settings, { containers, vectorStores, web }, ids);
  const { catalog } = turns;
  const { maxBodyBytes } = limits;
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  const threads = new Threads({ sealer: turns.sealer, catalog });
  const { lines } = store;
  const named = new NamedConversations({
    store: new ConversationStore(database, lines),
    ...{ lines, threads, ids, seconds: nowSeconds },
  });
  const conversations = new Conversations({ store, named, threads, catalog });
  const log = onRequest ? new RequestLog({ clock, onRequest, onFault }) : null;
  const api = createApi({ clock, ids, apiKey, onFault, log, sandbox });
  const { routes } = api;
  compactionRoutes(routes, { conversations, turns, seconds: nowSeconds, maxBodyBytes });
  const responses = new RunningTurns({ turns, conversations, clock });
  const background = new BackgroundResponses({ responses, conversations, store, catalog, onFault });
  const http = { maxBodyBytes, onFault, log };
  responseRoutes(routes, { responses, background, catalog, clock, ...http });
  responseLifecycleRoutes(routes, { store, background, catalog, clock });
  const completions = new ChatCompletions({ turns, clock, store: new CompletionStore(database) });
  chatCompletionRoutes(routes, { completions, ...http });
  containerRoutes(routes, { containers, files });
  const onDelete = (id: string) => vectorStores.files.removeEverywhere(id);
  anthropicRoutes(routes, { turns, files, containers, ids, clock, onDelete, ...http });
  fileRoutes(routes, { files, onDelete });
  modelRoutes(routes);
  vectorStoreRoutes(routes, vectorStores);
  conversationRoutes(routes, { conversations: named, catalog, maxBodyBytes });
  uploadRoutes(routes, { uploads, files });
  return {
    closing: responses.closing,
    api,
    refuse: (incoming, problem) => createRefusal(incoming, problem, { ids, log }),
    sandbox,
    connections: { responses, catalog, ids, onFault, clock, maxBodyBytes, log },
    async [Symbol.asyncDispose]() {
      try {
        // Turns end when they are aborted, or when the process that they wait for is killed.
        const parts = [responses, background, containers, uploads, sandbox];
        await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
        await vectorStores.close();
      } finally {
        web?.[Symbol.dispose]();
        database[Symbol.dispose]();
        onEnd();
      }
    },
  };
}

function createTurnServices(
  { model = echoModel(), tools: ownTools, dataDir, clock, limits }: ServerSettings,
  tools: ToolServices,
  ids: Ids,
): TurnServices {
  return {
    model: makeAbortable(model),
    tools,
    catalog: new ToolCatalog([...builtInTools, ...ownTools]),
    sealer: sealer(readSealKey(dataDir)),
    ids,
    sleep: (ms, signal, options) => clock.sleep(ms, signal, options),
    steps: new ModelSteps(),
    runTimeoutMs: limits.runTimeoutMs,
  };
}

/** Ends aborted turns even if the model ignores its signal. */
function makeAbortable(model: LocalModel): LocalModel {
  return {
    mayIgnoreToolChoice: model.mayIgnoreToolChoice,
    respond: (request, options) => raceAbort(model.respond(request, options), options?.signal),
  };
}

/** Closes the database if the folder cannot be read. */
async function openWebPages(
  web: string | undefined,
  database: Disposable,
): Promise<WebPages | null> {
  if (web === undefined) return null;
  try {
    const { WebPages } = await import("./web/web-pages.ts"); // brings the HTML parser
    return WebPages.open(web);
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}

/** Returns the key in the data directory, so that values sealed before a restart can be opened after it. */
function readSealKey(dataDir: string): Uint8Array {
  return readPrivateKey(join(dataDir, "seal.key"), () => randomBytes(32));
}

function createSandbox({ sandbox, limits, model }: ServerSettings): GradedSandbox {
  const author = isTrustedModel(model) ? "user" : "model";
  return new GradedSandbox({
    sandbox: new LazySandbox(sandbox, undefined, author),
    require: limits.require,
    findDiskSupport,
    onWatched: (message) => process.emitWarning(message, "WinkWarning"),
  });
}
