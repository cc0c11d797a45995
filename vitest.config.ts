import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^weakincentives$/, replacement: at("./src/index.ts") },
      { find: /^weakincentives\/(\w+)$/, replacement: at("./src/$1/index.ts") },
    ],
  },
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: [
      // Needs material from outside the repository: .ci/run says where that is.
      ...(process.env["WINK_SHARED"] ? [] : ["tests/reference/**"]),
      // Talks to the real API, and is only run when it is asked for: npm run test:live.
      ...(mode === "live" ? [] : ["tests/live/**"]),
    ],
    globalSetup: ["tests/support/print-what-runs.ts"],
    testTimeout: 5_000,
    coverage: {
      include: ["src/**/*.ts"],
      exclude: [
        "src/**/*.test.ts",
        "src/**/*.test-d.ts",
        "src/**/index.ts",
        "src/local/sandbox/wasm/kernel-main.ts", // runs in a child only, which is not counted
      ],
      reporter: ["text-summary", "json-summary"],
      thresholds: { lines: 98, branches: 97 },
    },
  },
}));
