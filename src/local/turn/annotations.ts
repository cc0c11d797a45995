import type { WireItem } from "../../openai/wire.ts";
import type { ModelCitation } from "../model-action.ts";
import type { LocalToolHit } from "../tools/local-tool.ts";

/** What a message may cite: what was found last, and the files that code made. */
export interface Citable {
  readonly hits: readonly LocalToolHit[];
  readonly files: readonly MadeFile[];
}

/** A file in a container. */
export interface MadeFile {
  readonly id: string;
  readonly containerId: string;
  /** `/mnt/data/plot.png`. */
  readonly path: string;
}

/** The annotations of a text: those the model gives, and those of files that it links. */
export function annotationsOf(
  text: string,
  citations: readonly ModelCitation[],
  { hits, files }: Citable,
): readonly WireItem[] {
  const given = citations.flatMap((citation) =>
    "hit" in citation
      ? hitAnnotation(text, hits[citation.hit], citation.at)
      : fileAnnotation(text, fileNamed(files, citation.file), citation.at),
  );
  const cited = new Set(given.map(({ file_id: id }) => id));
  const linked = files
    .filter(({ id, path }) => !cited.has(id) && text.includes(`sandbox:${path}`))
    .flatMap((file) => fileAnnotation(text, file));
  return [...given, ...linked];
}

type At = readonly [start: number, end: number] | undefined;

function hitAnnotation(text: string, hit: LocalToolHit | undefined, at: At): readonly WireItem[] {
  if (!hit) return [];
  if (hit.type === "file") {
    const { fileId, filename } = hit;
    const index = at?.[0] ?? text.length;
    return [{ type: "file_citation", file_id: fileId, filename, index }];
  }
  const { url, title } = hit;
  const [start_index, end_index] = at ?? spanOf(text, url);
  return [{ type: "url_citation", url, title, start_index, end_index }];
}

function fileAnnotation(text: string, file: MadeFile | undefined, at?: At): readonly WireItem[] {
  if (!file) return [];
  const { id, containerId, path } = file;
  const filename = path.split("/").at(-1) ?? path;
  const [start_index, end_index] = at ?? spanOf(text, `sandbox:${path}`);
  const where = { container_id: containerId, file_id: id, filename };
  return [{ type: "container_file_citation", ...where, start_index, end_index }];
}

/** The latest of that name: code may have written it twice. */
function fileNamed(files: readonly MadeFile[], name: string): MadeFile | undefined {
  return files.findLast(({ path }) => path === name || path.endsWith(`/${name}`));
}

/** Where the text has it; nowhere, as OpenAI puts what is not linked, if it has not. */
function spanOf(text: string, part: string): readonly [number, number] {
  const start = text.indexOf(part);
  return start === -1 ? [0, 0] : [start, start + part.length];
}
