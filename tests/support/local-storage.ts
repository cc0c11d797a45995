import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import type { Clock } from "../../src/base/clock.ts";
import { type ContainerLimits, Containers } from "../../src/local/containers/containers.ts";
import { createApi } from "../../src/local/http/create-api.ts";
import { listen } from "../../src/local/http/listen.ts";
import { randomIds } from "../../src/local/ids.ts";
import { containerRoutes } from "../../src/local/routes/containers.ts";
import { fileRoutes } from "../../src/local/routes/files.ts";
import { uploadRoutes } from "../../src/local/routes/uploads.ts";
import type { Sandbox } from "../../src/local/sandbox/sandbox.ts";
import { openDatabase } from "../../src/local/store/database.ts";
import { FileStore } from "../../src/local/store/file-store.ts";
import type { UploadLimits } from "../../src/local/uploads/part-checks.ts";
import { Uploads } from "../../src/local/uploads/uploads.ts";
import { fakeClock } from "../../src/testing/fake-clock.ts";
import { type HostSandbox, hostSandbox } from "./host-sandbox.ts";

/** The data folder and services of the server. */
export interface LocalStorageOptions {
  readonly dataDir?: string;
  readonly clock?: Clock;
  /** How many milliseconds after `START` its clock starts. */
  readonly startsAfterMs?: number;
  readonly sandbox?: Sandbox;
  readonly maxFileBytes?: number;
  readonly maxStoredBytes?: number;
  readonly limits?: ContainerLimits;
  readonly uploadLimits?: UploadLimits;
}

/** 2027-01-15T08:00:00Z. */
export const START = 1_800_000_000_000;

/** Creates a temporary data folder that is deleted with the scope. */
export function createTemporaryDataDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "wink-local-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Serves the stores of a local provider and their routes on a real socket. */
export async function startLocalStorage(options: LocalStorageOptions = {}) {
  const folder = options.dataDir === undefined ? createTemporaryDataDir() : undefined;
  const dataDir = options.dataDir ?? folder?.path ?? "";
  const fake = fakeClock({ now: START + (options.startsAfterMs ?? 0) });
  const clock = options.clock ?? fake;
  const host: HostSandbox = hostSandbox();
  const ids = randomIds();
  const database = openDatabase(dataDir);
  const { maxFileBytes, maxStoredBytes, limits } = options;
  const files = new FileStore({ database, dataDir, clock, ids, maxFileBytes, maxStoredBytes });
  const sandbox = options.sandbox ?? host;
  const containers = new Containers({ database, files, dataDir, sandbox, clock, ids, limits });
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  const uploads = new Uploads({
    ...{ database, files, dataDir, clock, ids, onFault },
    limits: options.uploadLimits,
  });
  const { routes, fetch } = createApi({
    clock,
    ids,
    apiKey: null,
    log: null,
    onFault,
  });
  uploadRoutes(routes, { uploads, files });
  fileRoutes(routes, { files });
  containerRoutes(routes, { containers, files });
  const listening = await listen(fetch, {});
  const { url } = listening;
  const port = Number(new URL(url).port);
  return {
    ...{ dataDir, clock: fake, database, files, containers, uploads, faults, url, port, host },
    client: new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 }),
    async [Symbol.asyncDispose]() {
      await containers[Symbol.asyncDispose]();
      await uploads[Symbol.asyncDispose]();
      await listening.close();
      database[Symbol.dispose]();
      folder?.[Symbol.dispose]();
    },
  };
}
