/** The same fields, of which any may be absent but none `undefined`. */
export type SetFields<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Without the fields that were left out: the wire has no `undefined`. */
export function onlySet<Fields extends object>(fields: Fields): SetFields<Fields>;
export function onlySet(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
