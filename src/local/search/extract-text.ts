/** The text of a file, or the error that the API reports for it. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: FileProblem };

/** The `last_error` of a file in a vector store. */
export interface FileProblem {
  readonly code: "server_error" | "unsupported_file" | "invalid_file";
  readonly message: string;
}

/** Returns the text to search in a file: plain text, Markdown, source code, JSON, CSV or HTML. */
export async function extractText(filename: string, bytes: Uint8Array): Promise<FileText> {
  const extension = getExtension(filename);
  if (!isHtml(extension) && !plain.has(extension)) return unsupported;
  const text = decodeText(bytes);
  if (text === null) return unreadable;
  if (!isHtml(extension)) return { ok: true, text };
  const { readHtml } = await import("./read-html.ts"); // loads the HTML parser only when needed
  const { title, text: words } = readHtml(text);
  return { ok: true, text: title === null ? words : `${title}\n\n${words}` };
}

const unsupported: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({ code: "unsupported_file", message: "The file type is not supported." }),
});

const unreadable: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({
    code: "invalid_file",
    message: "The file could not be parsed because its text is neither UTF-8 nor UTF-16.",
  }),
});

/** Returns the extension in lower case, without the dot; empty if there is none. */
export function getExtension(filename: string): string {
  return /\.([a-z0-9+-]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
}

/** Decodes UTF-8, or UTF-16 with a byte order mark; `null` for any other encoding and for binary. */
export function decodeText(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe
      ? "utf-16le"
      : first === 0xfe && second === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null; // not valid in that encoding
  }
}

/** Whether files with this extension are HTML. */
export function isHtml(extension: string): boolean {
  return extension === "html" || extension === "htm" || extension === "xhtml";
}

const plain: ReadonlySet<string> = new Set([
  ...["txt", "text", "md", "markdown", "mdx", "rst", "adoc", "tex", "log", "csv", "tsv"],
  ...["json", "jsonl", "ndjson", "yaml", "yml", "toml", "ini", "cfg", "conf", "xml", "svg"],
  ...["c", "h", "cc", "cpp", "cxx", "hpp", "cs", "css", "scss", "less", "go", "java", "kt"],
  ...["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte", "php", "pl"],
  ...["py", "pyi", "r", "rb", "rs", "scala", "sh", "bash", "zsh", "ps1", "sql", "swift"],
  ...["lua", "dart", "ex", "exs", "erl", "hs", "clj", "ml", "jl", "m", "mm", "proto", "graphql"],
  ...["tf", "gradle", "diff", "patch", "vtt", "srt"],
]);
