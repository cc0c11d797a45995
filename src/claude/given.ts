/** Data of the SDK, where any field may be missing or of another type. */
export type Given = Readonly<Record<string, unknown>>;
