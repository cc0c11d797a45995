import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = new URL("../../edge/", import.meta.url);

/** How to install the packages of `tests/edge`; `null` if they are installed. `.ci/run` installs them. */
export const edgeMissing: string | null = ["esbuild", "miniflare"].every((name) =>
  existsSync(fileURLToPath(new URL(`node_modules/${name}/package.json`, folder))),
)
  ? null
  : "Install a bundler and workerd with npm ci --ignore-scripts --prefix tests/edge.";

/** A worker in workerd, the runtime of Cloudflare Workers. */
export interface Miniflare {
  dispatchFetch(url: string, init?: RequestInit): Promise<Response>;
  dispose(): Promise<void>;
}

/** Bundles a worker as deployment tools for edge runtimes do. Nothing is external. */
export async function bundleWorker(file: string, options: BundleOptions = {}): Promise<Bundle> {
  const { build } = await load<Esbuild>("esbuild");
  const { outputFiles, metafile, warnings } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    outdir: "out",
    format: "esm",
    platform: "neutral", // adds no condition
    mainFields: ["module", "main"],
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "silent",
    ...options,
  });
  if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return {
    code: outputFiles.map(({ text }) => text).join(""),
    imports: imports.map(({ path }) => path),
  };
}

/** A bundled worker. */
export interface Bundle {
  readonly code: string;
  /** The modules that the code still imports, statically or dynamically. */
  readonly imports: readonly string[];
}

/** Options of `bundleWorker`. */
export interface BundleOptions {
  /** The conditions of `package.json` that apply. @default those of Wrangler */
  readonly conditions?: readonly string[];
  /** Whether the code is shortened. @default false */
  readonly minify?: boolean;
}

/** The part of esbuild that `bundleWorker` uses. */
interface Esbuild {
  build(options: Readonly<Record<string, unknown>>): Promise<{
    readonly outputFiles: readonly { readonly text: string }[];
    readonly metafile: {
      readonly outputs: Readonly<Record<string, { readonly imports: readonly { path: string }[] }>>;
    };
    readonly warnings: readonly object[];
  }>;
}

/**
 * Starts a worker in workerd. `script` is an ES module without imports. Without the flag `nodejs_compat`, there is
 * no `node:` module.
 */
export async function startWorker(
  script: string,
  env: Env,
  compatibilityFlags: readonly string[] = [],
): Promise<Miniflare> {
  const { Miniflare } = await load<{
    Miniflare: new (options: Readonly<Record<string, unknown>>) => Miniflare;
  }>("miniflare");
  return new Miniflare({
    modules: true,
    script,
    bindings: env,
    compatibilityDate: "2026-07-30", // the date of the installed workerd
    compatibilityFlags,
  });
}

/** The variables of a worker. */
export type Env = Readonly<Record<string, string>>;

async function load<Module>(name: string): Promise<Module> {
  const path = createRequire(new URL("package.json", folder)).resolve(name);
  return await import(pathToFileURL(path).href);
}
