import * as files from "weakincentives/files";
import * as stores from "weakincentives/stores";
import type { Row } from "./row.ts";

const folder = "tests/support/unknown-options";

/** `weakincentives/files`. */
export const filesRows: readonly Row[] = [
  ["InMemoryFilesystem", "readonly", "readOnly", (o) => new files.InMemoryFilesystem(o)],
  ["HostFilesystem(options)", "readonly", "readOnly", (o) => new files.HostFilesystem(folder, o)],
  [
    "Filesystem.read(options)",
    "ofset",
    "offset",
    (o) => new files.HostFilesystem(folder).read("row.ts", o),
  ],
  [
    "Filesystem.grep(options)",
    "maxMatchs",
    "maxMatches",
    (o) => new files.InMemoryFilesystem().grep("a", o),
  ],
  [
    "Filesystem.glob(options)",
    "singal",
    "signal",
    (o) => new files.InMemoryFilesystem().glob("*", o),
  ],
  ["packDirectory(options)", "singal", "signal", (o) => files.packDirectory(folder, o).cancel()],
  [
    "planMounts(options)",
    "allowSecret",
    "allowSecrets",
    (o) => files.planMounts([], { allowedHostRoots: "any", ...Object(o) }),
  ],
  [
    "mounts[0]",
    "includeGlobs",
    "includeGlob",
    (o) => files.planMounts([{ hostPath: folder, ...Object(o) }], { allowedHostRoots: "any" }),
  ],
  [
    "materialize(options)",
    "int",
    "into",
    async (o) => {
      const plan = files.planMounts([], { allowedHostRoots: "any" });
      await (await files.materialize(plan, o))[Symbol.asyncDispose]();
    },
  ],
];

/** `weakincentives/stores`. */
export const storesRows: readonly Row[] = [
  [
    "JsonlSessionStore(options)",
    "onRepare",
    "onRepair",
    (o) => new stores.JsonlSessionStore(folder, o),
  ],
  [
    "SqliteSessionStore(options)",
    "leaseMS",
    "leaseMs",
    (o) => new stores.SqliteSessionStore(`${folder}/s.sqlite`, o),
  ],
  [
    "PostgresSessionStore",
    "shema",
    "schema",
    (o) =>
      new stores.PostgresSessionStore({
        sql: { query: async () => ({ rows: [] }) },
        ...Object(o),
      }),
  ],
];
