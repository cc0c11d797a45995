/** A source that the model cites. */
export type Citation = UrlCitation | FileCitation | ContainerFileCitation;

/** Position of a citation in `response.text`: `[start, end)` in UTF-16 units. */
export type CitationSpan = readonly [start: number, end: number];

/** A citation of a web page. */
export interface UrlCitation {
  /** Identifies a web page. */
  readonly type: "url";
  /** Position in `response.text`; `null` for a citation of an earlier turn. */
  readonly span: CitationSpan | null;
  /** URL of the page. */
  readonly url: string;
  /** Title of the page. */
  readonly title: string;
}

/** A citation of a file in a vector store, or of an attached file. */
export interface FileCitation {
  /** Identifies a stored or attached file. */
  readonly type: "file";
  /** Position in `response.text`; `null` for a citation of an earlier turn. */
  readonly span: CitationSpan | null;
  /** Provider's id of the file. */
  readonly fileId: string;
  /** Name of the file. */
  readonly filename: string;
}

/** A citation of a file that hosted code created. Download it with `adapter.downloadFile`. */
export interface ContainerFileCitation {
  /** Identifies a file in a container. */
  readonly type: "containerFile";
  /** Position in `response.text`; `null` for a citation of an earlier turn. */
  readonly span: CitationSpan | null;
  /** Id of the container that has the file. */
  readonly containerId: string;
  /** Provider's id of the file. */
  readonly fileId: string;
  /** Name of the file. */
  readonly filename: string;
}
