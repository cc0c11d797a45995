import { type PageQuery, unknownCursor } from "./list-page.ts";

/** A part of a list whose items have places, one after the other. */
export interface PlacePage {
  readonly from: number;
  /** The place after the last one. */
  readonly to: number;
  readonly hasMore: boolean;
}

/** Which places a query asks for, of those `from … to`; `placesOf` says where an id stands. */
export function placePage(
  { from, to }: { readonly from: number; readonly to: number },
  query: PageQuery,
  placesOf: (id: string) => readonly number[],
): PlacePage {
  const isUpward = query.order === "asc";
  const cursor = (param: "after" | "before") => {
    const id = query[param];
    if (id === undefined) return null;
    const places = placesOf(id).toSorted((one, other) => one - other);
    // The one that comes first in the list's order, where several have the id.
    const place = isUpward ? places[0] : places.at(-1);
    if (place === undefined) throw unknownCursor(param, id);
    return place;
  };
  const [after, before] = [cursor("after"), cursor("before")];
  const [low, high] = isUpward ? [after, before] : [before, after];
  const first = low === null ? from : low + 1;
  const end = Math.max(first, high ?? to);
  const hasMore = end - first > query.limit;
  // What is asked for before an item is what stands nearest to it.
  const isNearest = before !== null && after === null;
  return isUpward === isNearest
    ? { from: Math.max(first, end - query.limit), to: end, hasMore }
    : { from: first, to: Math.min(end, first + query.limit), hasMore };
}
