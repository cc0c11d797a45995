/** A request that the provider refused, in the provider's own words. */
export interface Complaint {
  /** `null` where it came within a stream. */
  readonly status: number | null;
  readonly message: string;
  readonly code: string | null;
}

/** Whether the provider says that a container has expired, is unknown, or is not the expected one. */
export function complaintAboutContainer(complaint: Complaint): boolean {
  const { message } = complaint;
  return (
    mayBeAboutHistory(complaint) && (lostContainerId(message) !== null || isContainerGone(message))
  );
}

/** Whether a refusal can be about the history: it came with status 400 or 404, or within a stream. */
export function mayBeAboutHistory({ status }: Complaint): boolean {
  return status === 400 || status === 404 || status === null;
}

/** The id of the container that the provider does not know; `null` if the message names none. */
export function lostContainerId(message: string): string | null {
  return textBetween(message, "Container with id '", "' not found");
}

/** Whether the message says that a container expired, without saying which one. */
export function isContainerGone(message: string): boolean {
  return message.includes("Container is expired") || message.includes("Expected container_id: ");
}

/** The text between two markers; `null` if either is missing. */
export function textBetween(text: string, start: string, end: string): string | null {
  const rest = textAfter(text, start);
  const length = rest?.indexOf(end) ?? -1;
  return rest === null || length === -1 ? null : rest.slice(0, length);
}

/** The text after a marker; `null` if the marker is missing. */
export function textAfter(text: string, start: string): string | null {
  const place = text.indexOf(start);
  return place === -1 ? null : text.slice(place + start.length);
}
