import { describe, expect, test } from "vitest";
import { readHtml } from "./read-html.ts";

const readText = (html: string) => readHtml(html).text;

/** Repeats a part 50,000 times, with `#` replaced by its number. */
const repeatNumbered = (part: string) =>
  Array.from({ length: 50_000 }, (_, at) => part.replace("#", `${at}`)).join("");

describe("The text of a page", () => {
  test("has one line per block, with white space collapsed as in browsers", () => {
    const html = "<h1>Owls</h1><p>They  <b>hunt</b>\n at night.<p>And sleep<br>by day.</p>";
    expect(readText(html)).toBe("Owls\nThey hunt at night.\nAnd sleep\nby day.");
  });

  test("keeps lines and spaces in preformatted elements", () => {
    expect(readText("<p>a</p><pre>if x:\n    y\n\n\n\nz</pre><p>b")).toBe(
      "a\nif x:\n    y\n\nz\nb",
    );
    expect(readText("</pre><p>a  b</p>")).toBe("a b");
    expect(readText("a<pre>\n\n  b</pre>")).toBe("a\n\n  b");
    expect(readText("<listing>a\n  b</listing><xmp><b>c</b>\n  d</xmp>e")).toBe(
      "a\n  b\n<b>c</b>\n  d\ne",
    );
  });

  test("separates the cells of a table, including a nested one", () => {
    expect(readText("<table><tr><th>a<th>b<tr><td>1</td><td>2</td></table>")).toBe("a b\n1 2");
    expect(readText("<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>f")).toBe(
      "a\nb c\nd e\nf",
    );
    expect(readText("<table>a<tr><td>b</table>c")).toBe("a\nb\nc");
  });

  test("reads an end tag of br as one line break", () => {
    expect(readText("<pre>one</br>two</pre>")).toBe("one\ntwo");
  });

  test("continues the line of an element that ends after the form around it", () => {
    expect(readText("<form><a>one</form>two</a>three")).toBe("onetwo\nthree");
    expect(readText("<form><div><a>one</form>two</a></div>three")).toBe("onetwo\nthree");
  });

  test("omits scripts, styles, comments, frames and declarations", () => {
    const html =
      "<!doctype html><?xml x?><style>p{}</style>a<script>if (a</b) '</p>'</SCRIPT >b<!-- <p>no</p> -->c<![CDATA[no]]>d</ no>e<iframe>no</iframe>";
    expect(readText(html)).toBe("abcde");
  });

  test("includes the content of textarea, and all text after plaintext", () => {
    expect(readText("<textarea><p>a&amp;b</p></textarea>")).toBe("<p>a&b</p>");
    expect(readText("a<plaintext><b>x</b>")).toBe("a\n<b>x</b>");
  });

  test.each([
    ["&lt;b&gt; &amp;amp; &quot;&apos;", "<b> &amp; \"'"],
    ["caf&eacute; &Uuml;ber &szlig; &ccedil;", "café Über ß ç"],
    ["&#233;&#xE9;&#XE9; &euro; &hellip;", "ééé € …"],
    ["&#150; &#0; &#xD800; &#x110000; &#99999999999999999999;", "– \ufffd \ufffd \ufffd \ufffd"],
    ["&nosuchname; &; AT&T &#; &#x;", "&nosuchname; &; AT&T &#; &#x;"],
    ["&constructor; &toString;", "&constructor; &toString;"],
    // Without a semicolon, only the old names of Latin-1 are references.
    ["&copy 2026 &amp &eacutex &notit; &euro &hellip", "© 2026 & éx ¬it; &euro &hellip"],
    ["&CounterClockwiseContourIntegral; &nvlt;", "∳ <\u20d2"],
  ])("decodes the character references in %s", (html, text) => {
    expect(readText(html)).toBe(text);
  });

  test.each([
    ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
    ["a<", "a<"],
    ["a</", "a</"],
    ["a<b", "a"],
    ["a<b title='never closed>c", "a"],
    ["a<b title=x/y>c</b foo=bar>d", "acd"],
    ["<a href=\"x>y\" href='z'>c</a>", "c"],
    ["<a / / = == x = >c", "c"],
    ["a<!-- never closed", "a"],
    ["a<!never closed", "a"],
    ["a<script>never closed", "a"],
    ["a<!-->b", "ab"],
    ["a<!--->b", "ab"],
    ["a<!-- no --!>b", "ab"],
    ["a<!-- no <!-- no --> b -->", "a b -->"],
    ["<script><!--<script></script>no--></script>a", "a"],
    ["a</p>b</br>c", "a\nb\nc"],
    ["<p/>a<div/>b", "a\nb"],
    ["a</body>b</html>c", "abc"],
    ["<p>a<b>b<p>c</b>d</p>e", "ab\ncd\ne"],
    ["<b><p>a</b>b</p>c", "ab\nc"],
    ["<a>a<div>b<a>c</a>d</div>e", "a\nbcd\ne"],
    ["a\0b<svg><text>\0</text></svg>", "ab\ufffd"],
    ["", ""],
  ])("matches what browsers show for the malformed %j", (html, text) => {
    expect(readText(html)).toBe(text);
  });

  test("omits templates, and includes content for browsers without scripting", () => {
    expect(readText("a<template><p>no<table><td>no</template>b")).toBe("ab");
    expect(readText("<noscript><p>Turn on scripts</p></noscript>a")).toBe("Turn on scripts\na");
  });

  test("includes SVG and MathML text, but not their titles, styles and scripts", () => {
    expect(readText("<svg><title>no</title><style>no</style><text>a</text></svg>b")).toBe("ab");
    expect(readText("<svg><script/><text><![CDATA[a<b]]></text></svg><![CDATA[no]]>")).toBe("a<b");
    expect(readText("<math><mi>x</mi><mtext>a<p>b</mtext></math>")).toBe("xa\nb");
    expect(readText("<svg><g><p>a</p>b</svg>c")).toBe("a\nbc");
  });

  const length = 200_000;
  test.each([
    ["<", "<".repeat(length)],
    ["<a ", "<a ".repeat(length)],
    ["<!--", "<!--".repeat(length)],
    ["</script", `<script>${"</script".repeat(length)}`],
    ["<script>", "<script>".repeat(length)],
    ["<title>", "<title>".repeat(length)],
    ["<pre>", "<pre>".repeat(length)],
    ["<div>", "<div>".repeat(length)],
    ["<a b='", "<a b='".repeat(length)],
    ["<a b=\"'", "<a b=\"'".repeat(length)],
    ["attributes", `<a ${"b=c ".repeat(length)}`],
    ["&#", "&#".repeat(length)],
    ["&#0…", `&#${"0".repeat(length)}`],
    ["&a…", `&${"a".repeat(length)}`],
    ["spaces", `a${" ".repeat(length)}b`],
    ["lines", `<pre>${" \n".repeat(length)}</pre>`],
    ["headings", "<h1>x".repeat(length)],
  ])("is read in linear time from endlessly repeated %s", (_, html) => {
    const before = process.threadCpuUsage(); // other processes do not count
    expect(readText(html).length).toBeLessThanOrEqual(html.length);
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_500_000);
  });

  const count = 50_000;
  test.each([
    ["distinct attributes", `<a ${repeatNumbered("a# ")}`],
    ["distinct names", repeatNumbered("<x#>")],
    ["formatting in a paragraph", `<p>${repeatNumbered("<b a#>")}${"<p>x".repeat(count)}`],
    ["formatting that is misnested", repeatNumbered("<i a#><nobr>")],
    ["end tags without start tags", `${"<div>".repeat(count)}${"</span>".repeat(count)}`],
    ["tables", "<table><td>".repeat(count)],
    ["text in a table", `<table>${"x ".repeat(count)}`],
    ["text and tags in a table", `<table>${"x<i></i>".repeat(count)}`],
    ["templates", "<template>".repeat(count)],
    ["svg", "<svg><title>".repeat(count)],
  ])("is read in linear time with 50,000 repetitions: %s", (_, html) => {
    const before = process.threadCpuUsage(); // other processes do not count
    expect(readText(html).length).toBeLessThanOrEqual(html.length);
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_500_000);
  });
});

describe("The metadata of a page", () => {
  test("includes its title, first heading, canonical address and base", () => {
    const page = readHtml(
      `<base href=" https://a.example/ "><title> Owls
         &amp; more </title><link rel="icon" href="i"><link href='/owls?a=1&amp;b=2' REL="nofollow Canonical">
       <link rel=canonical href=/later><base href=/later><title>Later</title>
       <h2> </h2><h2>Of <i>owls</i></h2><h1>Later</h1>`,
    );
    expect(page.title).toBe("Owls & more");
    expect(page.heading).toBe("Of owls");
    expect(page.canonical).toBe("/owls?a=1&b=2");
    expect(page.base).toBe("https://a.example/");
  });

  test("ignores templates, SVG titles and repeated attributes", () => {
    const page = readHtml(
      `<svg><title>Icon</title></svg><template><title>No</title><base href=/no></template>
       <title>a\0b</title><base href=/a HREF=/b><link rel=canonical href="/?a=1&copy=2&amp;c=3">`,
    );
    expect(page.title).toBe("a\ufffdb");
    expect(page.base).toBe("/a");
    expect(page.canonical).toBe("/?a=1&copy=2&c=3");
  });

  test("is null if the page declares no metadata", () => {
    expect(readHtml("<link rel=canonical><base><title> </title></link></base>a<h1>b")).toEqual({
      text: "a\nb",
      title: null,
      heading: "b",
      canonical: null,
      base: null,
    });
  });
});
