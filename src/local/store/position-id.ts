/**
 * Creates the id of a stored item that its client sent without one, from the item's address. No two items have the
 * same address, so the id is the same in every list, and is not stored.
 */
export function createPositionId(prefix: string, address: number): string {
  return prefix + address.toString(16).padStart(ID_DIGITS, "0");
}

/** Returns the address in an id that {@link createPositionId} has created; `null` for all other ids. */
export function readPositionId(id: string): number | null {
  const [, digits] = POSITION_ID.exec(id) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

/** The number of digits of OpenAI's ids. */
const ID_DIGITS = 48;

/** Addresses have at most 53 bits: 14 digits. */
const POSITION_ID = /^[a-z]+_0{34}([0-9a-f]{14})$/;
