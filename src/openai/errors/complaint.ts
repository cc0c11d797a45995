/** The provider's rejection of a request. */
export interface Complaint {
  /** The HTTP status; `null` if the error arrived inside a stream. */
  readonly status: number | null;
  readonly message: string;
  readonly code: string | null;
}

/**
 * Whether the provider reports that a container expired, is unknown, or is not the expected one.
 */
export function complaintAboutContainer(complaint: Complaint): boolean {
  const { message } = complaint;
  return (
    mayBeAboutHistory(complaint) && (lostContainerId(message) !== null || isContainerGone(message))
  );
}

/** Whether a rejection can concern the history: status 400 or 404, or an error inside a stream. */
export function mayBeAboutHistory({ status }: Complaint): boolean {
  return status === 400 || status === 404 || status === null;
}

/** Finds the unknown container's id in a provider's message; `null` if it is missing. */
export function lostContainerId(message: string): string | null {
  return textBetween(message, "Container with id '", "' not found");
}

/** Whether the message reports an expired container without its id. */
export function isContainerGone(message: string): boolean {
  return message.includes("Container is expired") || message.includes("Expected container_id: ");
}

/** Returns the text between two markers; `null` if either is missing. */
export function textBetween(text: string, start: string, end: string): string | null {
  const rest = textAfter(text, start);
  const length = rest?.indexOf(end) ?? -1;
  return rest === null || length === -1 ? null : rest.slice(0, length);
}

/** Returns the text after a marker; `null` if the marker is missing. */
export function textAfter(text: string, start: string): string | null {
  const place = text.indexOf(start);
  return place === -1 ? null : text.slice(place + start.length);
}
