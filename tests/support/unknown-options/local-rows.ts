import * as local from "weakincentives/local";
import type { Row } from "./row.ts";

/** `weakincentives/local`. */
export const localRows: readonly Row[] = [
  ["LocalProvider", "modle", "model", (o) => new local.LocalProvider(o)],
  [
    "LocalProvider.limits",
    "maxBodyByte",
    "maxBodyBytes",
    (o) => new local.LocalProvider({ limits: o }),
  ],
  [
    "LocalProvider.tools[0]",
    "descripton",
    "description",
    (o) => {
      const tool = { kind: "my_kind", items: { my_call: {} }, run: () => ({}), ...Object(o) };
      return new local.LocalProvider({ tools: [tool as never] });
    },
  ],
  [
    "LocalProvider.listen(options)",
    "prot",
    "port",
    (o) => useProvider((provider) => provider.listen(o)),
  ],
  ["LocalProvider.sandbox(options)", "trail", "trial", (o) => useProvider((one) => one.sandbox(o))],
  [
    "upstreamModel",
    "timeoutMS",
    "timeoutMs",
    (o) => local.upstreamModel({ baseURL: "http://127.0.0.1:9/v1", model: "m", ...Object(o) }),
  ],
  [
    "dockerSandbox",
    "enigne",
    "engine",
    (o) => local.dockerSandbox({ engine: "docker", ...Object(o) }),
  ],
  ["sandboxedShell", "rot", "root", (o) => local.sandboxedShell({ root: ".", ...Object(o) })],
  [
    "steps[0][0].call",
    "arg",
    "args",
    (o) => local.scriptedModel([[{ call: { name: "a", args: {}, ...Object(o) } }]]),
  ],
];

async function useProvider(use: (provider: local.LocalProvider) => Promise<unknown>) {
  await using provider = new local.LocalProvider();
  return await use(provider);
}
