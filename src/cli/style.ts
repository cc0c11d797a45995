import { styleText } from "node:util";

/** The part of an output stream that decides how a table looks. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Styles text on standard output. Colors are omitted if it is not a terminal or NO_COLOR is set. */
export const style = {
  bold: (text: string) => styleText("bold", text, { stream: process.stdout }),
  dim: (text: string) => styleText("dim", text, { stream: process.stdout }),
  green: (text: string) => styleText("green", text, { stream: process.stdout }),
  yellow: (text: string) => styleText("yellow", text, { stream: process.stdout }),
  red: (text: string) => styleText("red", text, { stream: process.stdout }),
} as const;
