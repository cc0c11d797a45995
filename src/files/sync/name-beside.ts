import { parse } from "node:path";

const MAX_NAME_BYTES = 255;

/**
 * Creates the name of a file that is written beside another one: `a.container.txt` for `a.txt`,
 * `a.tar.container.gz` for `a.tar.gz`, `Makefile.container`, `.env.container`. Later attempts are numbered:
 * `a.container-2.txt`. Long names are shortened to fit the limit of 255 bytes.
 */
export function createNameBeside(name: string, attempt: number): string {
  const { name: stem, ext } = parse(name);
  const tag = attempt === 1 ? ".container" : `.container-${attempt}`;
  const isLong = Buffer.byteLength(tag + ext) > MAX_NAME_BYTES / 2;
  const end = isLong ? tag : tag + ext;
  return shorten(isLong ? name : stem, MAX_NAME_BYTES - Buffer.byteLength(end)) + end;
}

/** Shortens text to a number of bytes without cutting a character. */
function shorten(text: string, maxBytes: number): string {
  const characters = [...text];
  while (Buffer.byteLength(characters.join("")) > maxBytes) characters.pop();
  return characters.join("");
}
