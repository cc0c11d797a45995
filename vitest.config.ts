import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Which tests run: `npm test` runs the quick tests, `npm run test:all` (`--mode all`) everything that needs
 * neither a key nor material from outside, `npm run test:live` (`--mode live`) tests against the real API,
 * `npm run test:clients` (`--mode clients`) other software on the local provider.
 */
export default defineConfig(({ mode }) => {
  const resolve = {
    alias: [
      { find: /^weakincentives$/, replacement: at("./src/index.ts") },
      { find: /^weakincentives\/(\w+)$/, replacement: at("./src/$1/index.ts") },
    ],
  };
  const test = {
    exclude: [
      ...(mode === "all" ? [] : ["**/*.long.test.ts"]),
      ...(mode === "live" ? [] : ["tests/live/**"]),
      "**/node_modules/**",
      // They have their own packages: `npm run test:clients`.
      ...(mode === "clients" ? [] : ["tests/clients/**"]),
      // `.ci/run` sets the path of the reference material.
      ...(process.env["WINK_SHARED"] ? [] : ["tests/reference/**"]),
    ],
    env: { WINK_TEST_MODE: mode },
    // A test that hangs fails in the end. A busy machine alone must not reach these limits.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  };
  return {
    test: {
      projects: [
        // Tests beside sources share a process and the modules they load: that saves a third of their time.
        { resolve, test: { ...test, name: "src", include: ["src/**/*.test.ts"], isolate: false } },
        { resolve, test: { ...test, name: "tests", include: ["tests/**/*.test.ts"] } },
      ],
      globalSetup: ["tests/support/print-environment.ts", "tests/support/attacks/print-attacks.ts"],
      maxWorkers: availableParallelism(),
      coverage: {
        include: ["src/**/*.ts"],
        exclude: [
          "src/**/*.test.ts",
          "src/**/*.test-d.ts",
          "src/**/index.ts",
          // Run in threads and child processes only, where coverage is not counted.
          "src/host/threads/worker.ts",
          "src/local/sandbox/wasm/kernel/kernel-main.ts",
          // Runs as a process only.
          "src/cli/main.ts",
          // Runs in Chromium only: tests/inspect-page.long.test.ts.
          "src/inspect/page/**",
        ],
        reporter: ["text-summary", "json-summary"],
        // Floors only rise. The second one is for modules that are new, or whose commands run as processes in tests, where
        // coverage is not counted.
        thresholds: {
          "src/{adapter,base,claude,files,host,local,mcp,openai,prompt,session,stores,testing,tools}/**/*.ts":
            { lines: 99.5, branches: 98 },
          "src/{cli,fleet,inspect,telemetry}/**/*.ts": { lines: 98.5, branches: 95 },
        },
      },
    },
  };
});
