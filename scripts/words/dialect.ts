import type { Passage } from "./prose.ts";

/** A phrase of the project's former dialect, and its location. */
export interface DialectPhrase {
  readonly file: string;
  readonly line: number;
  /** The phrase as written. */
  readonly phrase: string;
  /** The words to use instead. */
  readonly advice: string;
}

/** Finds the phrases of the dialect in passages. Overlapping phrases count once. */
export function findDialect(passages: readonly Passage[]): readonly DialectPhrase[] {
  return passages.flatMap(({ file, line, text }) => {
    const taken: [start: number, end: number][] = [];
    return DIALECT.flatMap(([pattern, advice]) =>
      [...text.matchAll(pattern)].flatMap((match) => {
        const [start, end] = [match.index, match.index + match[0].length];
        if (taken.some(([from, to]) => start < to && from < end)) return [];
        taken.push([start, end]);
        const offset = text.slice(0, start).split("\n").length - 1;
        return [{ file, line: line + offset, phrase: match[0].trim(), advice }];
      }),
    );
  });
}

/**
 * The dialect as patterns, with advice. Each was at least 20 times as frequent in this project as in the
 * documentation of the AI SDK, undici, Hono, Zod and Vitest, counted over all one- to three-word phrases.
 */
const DIALECT: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/\b(?:rooms?|doors?|the house)\b/gi, "module, entry point, project"],
  [/\bpatien(?:ce|t|tly)\b/gi, "retries, timeout"],
  [
    /\b(?:is|are|was|were|be|been|being|when|if|as|unless|not) told\b|\btold (?:of|to|otherwise|apart|so)\b/gi,
    "is notified, receives, is set to",
  ],
  [/\btell(?:s|ing)? (?:of|which|what|how|why|nobody|whoever)\b/gi, "reports, shows"],
  [/\b(?:is|are|was|were|be|been|not) said\b|\bsaid (?:so|of|about)\b/gi, "is written, is set"],
  [
    /\b(?:says?|saying) (?:so|what|which|why|how|where|who|nothing|whether|no|of)\b/gi,
    "names, states",
  ],
  [/\b(?:is|are|was|were|be|been|already) had\b|\bto be had\b/gi, "exists, is available"],
  [/\bof (?:ours|yours|theirs|mine)\b|\bour own\b/gi, "the library's, your"],
  [/\bof (?:its|their|your) own\b/gi, "its own x, a separate x"],
  [/\b(?:go(?:es|ing)?|went|gone|reads?) on\b(?! to\b)|\bon from\b/gi, "continues"],
  [/\b(?:nobody|somebody|whoever|whomever)\b/gi, "no caller, no listener, the caller"],
  [/\b(?:whatever|whichever|wherever)\b/gi, "any, every"],
  [
    /\bwhat (?:it(?! does)|an?|was|were|we|they|that|this|its|their|has|have|had|cannot|could|came|comes|code|made|makes|may|must|no|did|would|will|follows|goes|went|stands|stays|takes|took|holds|gives|gave|each|every|one|another|belongs|changed|changes|remains|runs|ran|left|leaves|needs|counts|differs|fits|reads?|says|said|nobody|only|our|these|those|became|becomes|exists|other|some|any|all|not|two|lies|lay|lives|is (?:not|no|in|left|there|known|written|sent|missing|kept|given|needed|made|read|wrong))\b/gi,
    "a noun: the files that…, the value, the response",
  ],
  [
    /(?<=(?:^|[.:;|]\s+|\/\*\*\s+|\*\s+|\/\/\s+|["`]))(?:What|Who|Whose|Of (?:which|whom|how|what|those|one|an?|all)|By (?:which|what)|With what|To whom|For whom|From what)\b(?! (?:to do|happens|changed))(?=[^?\n]*(?:\n|$))/gm,
    "begin with a noun or a verb",
  ],
  [/\bfor (?:want|lack) of\b/gi, "without, because there is no"],
  [/\b(?:lets? go|letting go|(?:is|are|was) let)\b/gi, "releases, discards"],
  [/\b(?:all the same|the same to the same|as (?:it|they) stands?)\b/gi, "anyway, unchanged"],
  [/\bas (?:it|they) (?:was|were)\b(?=[.,;:]|$)/gi, "unchanged"],
  [/\b(?:nothing|something|anything) (?:else|of|but)\b/gi, "no other x, another x"],
  [
    /\b(?:is|are|was|were) (?:gone|over|not there)\b/gi,
    "is deleted, has expired, has ended, is missing",
  ],
  [/\bst(?:ands?|ood) (?:for|in for|there|beside)\b/gi, "represents, replaces"],
  [
    /\b(?:anew|meanwhile|besides|thereby|thereof|therein|wherein|whereby|hitherto|lest|afresh|save (?:in|for|that|where))\b/gi,
    "again, also, except",
  ],
  [
    /\b(?:one|ones|those) (?:that|who) (?:is|are|was|were|has|have|had)\b|\ball that (?:is|are|was|it|they)\b/gi,
    "repeat the noun",
  ],
  [/\bthose of\b/gi, "repeat the noun"],
  [
    /\b(?:calls?|tools?|answers?|words?|items?) of (?:an?|one|it|its|that|our|another|no)\b/gi,
    "a compound noun: tool call",
  ],
  [
    /\b(?:brings?|brought|bringing|puts?|putting) back\b|\bcomes? (?:along|of it)\b/gi,
    "restores, downloads, returns",
  ],
  [
    /\b(?:is|are|was|were) (?:asked|looked (?:for|at)|heard|wanted|lent|spoken)\b/gi,
    "is requested, is called",
  ],
  [/\basked (?:for|of|again)\b/gi, "requested"],
  [/\b(?:left out|leaves? (?:it|them|this) out|leaving (?:it|them) out)\b/gi, "omit"],
  [/\b(?:is|are|was|were) to (?:be|have|come|go)\b/gi, "must be, will be"],
  [/\bso (?:many|much) (?:of|as)\b|\bno such (?!file|directory|host)/gi, "that many, no x named"],
  [/\bin (?:its|their) (?:place|stead)\b|\bin stead of\b/gi, "instead"],
  [/\b(?:becomes?|became|makes?|made) (?:of|out of) (?:it|them|that|what)\b/gi, "produces"],
  [
    /\bnot understood\b|\bknows? (?:no|nothing)\b|\bdoes not say\b|\bhas no word\b/gi,
    "unknown, does not have",
  ],
  [/\bwrong with\b|\bwill not have\b/gi, "name the problem"],
  [/\b(?:hands?|handed) (?:on|over)\b|\bcares? for\b/gi, "passes, handles"],
  [/\b(?:but for|none but|nothing but)\b/gi, "except, only"],
  [
    /\b(?:behaviour|colour|honour\w*|favour\w*|(?:normal|serial|material|recogn|summar|organ|initial|optim|sanit|author|custom|minim|maxim|util|real|synchron|standard|final|special|general)is(?:e|es|ed|ing|ation)|licence|centre|neighbour\w*|catalogue|modelled|labelled|whilst|amongst|artefacts?)\b/gi,
    "American spelling",
  ],
];
