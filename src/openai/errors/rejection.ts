/** The provider's rejection of a request. */
export interface Rejection {
  /** The HTTP status; `null` if the error arrived inside a stream. */
  readonly status: number | null;
  readonly message: string;
  readonly code: string | null;
}

/**
 * Whether the provider reports that a container expired, is unknown, or is not the expected one.
 */
export function isContainerRejection(complaint: Rejection): boolean {
  const { message } = complaint;
  return (
    canConcernHistory(complaint) &&
    (findLostContainerId(message) !== null || mentionsExpiredContainer(message))
  );
}

/** Whether a rejection can concern the history: status 400 or 404, or an error inside a stream. */
export function canConcernHistory({ status }: Rejection): boolean {
  return status === 400 || status === 404 || status === null;
}

/** Finds the unknown container's id in a provider's message; `null` if it is missing. */
export function findLostContainerId(message: string): string | null {
  return findTextBetween(message, "Container with id '", "' not found");
}

/** Whether the message reports an expired container without its id. */
export function mentionsExpiredContainer(message: string): boolean {
  return message.includes("Container is expired") || message.includes("Expected container_id: ");
}

/** Returns the text between two markers; `null` if either is missing. */
export function findTextBetween(text: string, start: string, end: string): string | null {
  const rest = findTextAfter(text, start);
  const length = rest?.indexOf(end) ?? -1;
  return rest === null || length === -1 ? null : rest.slice(0, length);
}

/** Returns the text after a marker; `null` if the marker is missing. */
export function findTextAfter(text: string, start: string): string | null {
  const place = text.indexOf(start);
  return place === -1 ? null : text.slice(place + start.length);
}
