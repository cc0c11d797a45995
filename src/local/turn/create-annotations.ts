import type { WireItem } from "../../openai/wire.ts";
import type { ModelCitation } from "../model-action.ts";
import type { LocalToolHit } from "../tools/local-tool.ts";

/** Sources that a message may cite: the latest search hits, and files produced by code. */
export interface Citable {
  readonly hits: readonly LocalToolHit[];
  readonly files: readonly ProducedFile[];
}

/** A file in a container. */
export interface ProducedFile {
  readonly id: string;
  readonly containerId: string;
  /** Path in the container, such as `/mnt/data/plot.png`. */
  readonly path: string;
}

/** Creates the annotations of a text: the model's citations, and files that the text links to. */
export function createAnnotations(
  text: string,
  citations: readonly ModelCitation[],
  { hits, files }: Citable,
): readonly WireItem[] {
  const given = citations.flatMap((citation) =>
    "hit" in citation
      ? toHitAnnotation(text, hits[citation.hit], citation.at)
      : toFileAnnotation(text, findFile(files, citation.file), citation.at),
  );
  const cited = new Set(given.map(({ file_id: id }) => id));
  const linked = files
    .filter(({ id, path }) => !cited.has(id) && text.includes(`sandbox:${path}`))
    .flatMap((file) => toFileAnnotation(text, file));
  return [...given, ...linked];
}

type At = readonly [start: number, end: number] | undefined;

function toHitAnnotation(text: string, hit: LocalToolHit | undefined, at: At): readonly WireItem[] {
  if (!hit) return [];
  if (hit.type === "file") {
    const { fileId, filename } = hit;
    const index = at?.[0] ?? text.length;
    return [{ type: "file_citation", file_id: fileId, filename, index }];
  }
  const { url, title } = hit;
  const [start_index, end_index] = at ?? findSpan(text, url) ?? [0, text.length];
  return [{ type: "url_citation", url, title, start_index, end_index }];
}

function toFileAnnotation(
  text: string,
  file: ProducedFile | undefined,
  at?: At,
): readonly WireItem[] {
  if (!file) return [];
  const { id, containerId, path } = file;
  const filename = path.split("/").at(-1) ?? path;
  // The API has [0, 0] for a file that the text does not link to.
  const [start_index, end_index] = at ?? findSpan(text, `sandbox:${path}`) ?? [0, 0];
  const where = { container_id: containerId, file_id: id, filename };
  return [{ type: "container_file_citation", ...where, start_index, end_index }];
}

/** Finds the latest file with a name: code may have written it several times. */
function findFile(files: readonly ProducedFile[], name: string): ProducedFile | undefined {
  return files.findLast(({ path }) => path === name || path.endsWith(`/${name}`));
}

/** Returns the position of `part` in the text; `null` if the text does not contain it. */
function findSpan(text: string, part: string): readonly [number, number] | null {
  const start = text.indexOf(part);
  return start === -1 ? null : [start, start + part.length];
}
