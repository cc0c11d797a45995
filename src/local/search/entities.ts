/** Text with HTML's character references read: `&amp;`, `&#233;`, `&#xe9;`. Linear in its length. */
export function decodeEntities(text: string): string {
  return text.includes("&")
    ? text.replace(reference, (whole, body: string) => read(whole, body))
    : text;
}

const reference = /&(#x[0-9a-f]+|#[0-9]+|[a-z][a-z0-9]*);?/gi;

function read(whole: string, body: string): string {
  if (!body.startsWith("#")) return named.get(body) ?? whole;
  const isHex = body[1] === "x" || body[1] === "X";
  const code = Number.parseInt(body.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return character(code);
}

/** As browsers do: what is no character becomes the replacement character. */
function character(code: number): string {
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (code === 0 || code > 0x10ffff || isSurrogate) return "\ufffd";
  return code >= 0x80 && code <= 0x9f ? windows1252(code) : String.fromCodePoint(code);
}

/** References to the C1 controls mean what Windows-1252 has there. */
function windows1252(code: number): string {
  return new TextDecoder("windows-1252").decode(Uint8Array.of(code));
}

/** The names that pages use: XML's, Latin-1's and common typography. Others are left as they stand. */
const named: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", AMP: "&", LT: "<" }),
  ...Object.entries({ GT: ">", QUOT: '"', nbsp: "\u00a0", shy: "\u00ad", hellip: "…" }),
  ...Object.entries({ mdash: "—", ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”" }),
  ...Object.entries({ sbquo: "‚", bdquo: "„", laquo: "«", raquo: "»", lsaquo: "‹", rsaquo: "›" }),
  ...Object.entries({ bull: "•", middot: "·", copy: "©", reg: "®", trade: "™", deg: "°" }),
  ...Object.entries({ euro: "€", pound: "£", yen: "¥", cent: "¢", sect: "§", para: "¶" }),
  ...Object.entries({ times: "×", divide: "÷", plusmn: "±", minus: "−", micro: "µ", frac12: "½" }),
  ...Object.entries({ frac14: "¼", frac34: "¾", le: "≤", ge: "≥", ne: "≠", asymp: "≈" }),
  ...Object.entries({ larr: "←", uarr: "↑", rarr: "→", darr: "↓", harr: "↔", infin: "∞" }),
  ...Object.entries({ ensp: "\u2002", emsp: "\u2003", thinsp: "\u2009", zwnj: "\u200c" }),
  ...Object.entries({ zwj: "\u200d", iexcl: "¡", iquest: "¿", ordf: "ª", ordm: "º" }),
  ...Object.entries({ sup1: "¹", sup2: "²", sup3: "³", alpha: "α", beta: "β", gamma: "γ" }),
  ...Object.entries({ delta: "δ", lambda: "λ", mu: "μ", pi: "π", sigma: "σ", omega: "ω" }),
  ...latin1(),
]);

/** `Agrave` … `yuml`, from the letters' own decomposition. */
function latin1(): [string, string][] {
  const marks = { grave: "\u0300", acute: "\u0301", circ: "\u0302", tilde: "\u0303" };
  const all = Object.entries({ ...marks, uml: "\u0308", ring: "\u030a", cedil: "\u0327" });
  const letters = [..."AEIOUYNCaeiouync"];
  const composed = all.flatMap(([name, mark]) =>
    letters.map((letter): [string, string] => [letter + name, (letter + mark).normalize("NFC")]),
  );
  const others = { szlig: "ß", AElig: "Æ", aelig: "æ", Oslash: "Ø", oslash: "ø", ETH: "Ð" };
  const more = { eth: "ð", THORN: "Þ", thorn: "þ", OElig: "Œ", oelig: "œ", Scaron: "Š" };
  const rest = Object.entries({ ...others, ...more, scaron: "š" });
  return [...composed.filter(([, text]) => text.length === 1 && text < "\u0100"), ...rest];
}
