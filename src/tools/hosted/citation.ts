/** A source that the model's words rest on. */
export type Citation = UrlCitation | FileCitation | ContainerFileCitation;

/** Where in `response.text` it is cited: `[start, end)` in UTF-16 units; `null` in earlier turns. */
export type CitationSpan = readonly [start: number, end: number];

/** A page of the web. */
export interface UrlCitation {
  readonly type: "url";
  readonly span: CitationSpan | null;
  readonly url: string;
  readonly title: string;
}

/** A file of a vector store, or one that was attached. */
export interface FileCitation {
  readonly type: "file";
  readonly span: CitationSpan | null;
  readonly fileId: string;
  readonly filename: string;
}

/** A file that hosted code made; `adapter.downloadFile` fetches it. */
export interface ContainerFileCitation {
  readonly type: "containerFile";
  readonly span: CitationSpan | null;
  readonly containerId: string;
  readonly fileId: string;
  readonly filename: string;
}
