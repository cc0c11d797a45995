/** A part of the benchmarks: a program that runs in its own process. */
export interface Part {
  /** Its name for `--only`. */
  readonly name: string;
  readonly title: string;
  readonly program: string;
}

/** The parts in the order of the run. The first two fill the table at the top of the report. */
export const PARTS: readonly Part[] = [
  { name: "wire", title: "Requests, next to `fetch` by hand", program: "wire.ts" },
  { name: "telemetry", title: "Telemetry", program: "telemetry.ts" },
  { name: "peers", title: "Other SDKs", program: "peers.ts" },
  { name: "imports", title: "Importing the root entry point", program: "imports.ts" },
  { name: "growth", title: "Long loops and conversations", program: "growth.ts" },
  { name: "compaction", title: "Compaction", program: "compaction.ts" },
  { name: "background", title: "Background delivery", program: "background.ts" },
  { name: "durable", title: "Stored sessions", program: "durable.ts" },
  { name: "pack", title: "Packing and planning", program: "pack.ts" },
  {
    name: "workspace",
    title: "Mounting and syncing a container workspace",
    program: "workspace.ts",
  },
  { name: "local", title: "The local provider", program: "local.ts" },
  { name: "file-search", title: "File search of the local provider", program: "file-search.ts" },
  { name: "html", title: "HTML of 10 MB, next to the whole tree of parse5", program: "html.ts" },
  { name: "limits", title: "Limits of the sandboxes, used to allowed", program: "limits.ts" },
  { name: "inspect", title: "The inspector's page", program: "inspect.ts" },
];
