import { PromptValidationError } from "../../base/errors.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { arrayCheck } from "../../tools/config-checks.ts";

/** Throws if a file's extension is not allowed: the provider or its tools would reject the file. */
export function checkFileType(
  extension: string,
  filename: string,
  allowed: "any" | readonly string[] = uploadableTypes,
): void {
  if (allowed === "any") return;
  arrayCheck(checkExtension)(allowed, "uploadFile(options).allowedTypes");
  const wanted = extension.toLowerCase();
  if (allowed.some((type) => type.toLowerCase() === wanted)) return;
  const none =
    extension === "" ? "a name with an extension" : "a file type that OpenAI's tools read";
  throw new PromptValidationError({
    field: "uploadFile(path)",
    value: filename,
    rule:
      allowed === uploadableTypes
        ? `must be ${none}`
        : `must have an allowed extension (${quoteNames(allowed)})`,
    remedy: `convert or rename it, or set allowedTypes to "any" or to an array like [".csv"]`,
  });
}

function checkExtension(value: unknown, field: string): void {
  if (typeof value === "string" && /^(?:\.[^./\\]+)?$/.test(value)) return;
  const rule = "must be a file extension";
  const remedy = 'include the dot, as in ".csv", or use "" for no extension';
  throw new PromptValidationError({ field, value, rule, remedy });
}

/** The file types that the code interpreter, file search and the models read, and similar ones. */
export const uploadableTypes: readonly string[] = Object.freeze(
  [
    ".c .cc .cpp .cs .css .go .h .hpp .ipynb .java .js .jsx .kt .lua .mjs .php .pl .py .r .rb .rs .scala .sh .sql .swift .ts .tsx",
    ".doc .docx .htm .html .log .md .odt .pdf .pptx .rtf .tex .txt",
    ".bmp .gif .jpeg .jpg .png .svg .webp",
    ".gz .tar .tgz .zip",
    ".csv .ini .json .jsonl .parquet .pkl .toml .tsv .xls .xlsx .xml .yaml .yml",
  ].flatMap((kind) => kind.split(" ")),
);

/** Throws if a file cannot be uploaded individually. Ignores the case of extensions. */
export function checkSingleUploads(paths: readonly string[]): void {
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const dot = name.lastIndexOf(".");
    const extension = dot > 0 ? name.slice(dot).toLowerCase() : "";
    if (uploadableTypes.includes(extension)) continue;
    throw new PromptValidationError({
      field: "OpenAIContainerWorkspaceSection.mounts",
      value: path,
      rule: 'must contain only file types that OpenAI accepts individually when unpack is "files"',
      remedy: "exclude it with excludeGlob, or omit unpack to upload one archive",
    });
  }
}
