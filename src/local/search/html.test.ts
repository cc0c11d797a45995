import { performance } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { readHtml } from "./html.ts";

const textOf = (html: string) => readHtml(html).text;

describe("a page's text", () => {
  test("has each block on a line of its own, and spaces as a browser shows them", () => {
    const html = "<h1>Owls</h1><p>They  <b>hunt</b>\n at night.<p>And sleep<br>by day.</p>";
    expect(textOf(html)).toBe("Owls\nThey hunt at night.\nAnd sleep\nby day.");
  });

  test("keeps the lines and spaces of what is preformatted", () => {
    expect(textOf("<p>a</p><pre>if x:\n    y\n\n\n\nz</pre><p>b")).toBe("a\nif x:\n    y\n\nz\nb");
    expect(textOf("</pre><p>a  b</p>")).toBe("a b");
  });

  test("keeps the cells of a table apart", () => {
    expect(textOf("<table><tr><th>a<th>b<tr><td>1</td><td>2</td></table>")).toBe("a b\n1 2");
  });

  test("leaves out scripts, styles, comments, frames and declarations", () => {
    const html =
      "<!doctype html><?xml x?><style>p{}</style>a<script>if (a</b) '</p>'</SCRIPT >b<!-- <p>no</p> -->c<![CDATA[no]]>d</ no>e<iframe>no</iframe>";
    expect(textOf(html)).toBe("abcde");
  });

  test("has what a text area holds, and what plaintext is followed by", () => {
    expect(textOf("<textarea><p>a&amp;b</p></textarea>")).toBe("<p>a&b</p>");
    expect(textOf("a<plaintext><b>x</b>")).toBe("a\n<b>x</b>");
  });

  test.each([
    ["&lt;b&gt; &amp;amp; &quot;&apos;", "<b> &amp; \"'"],
    ["caf&eacute; &Uuml;ber &szlig; &ccedil;", "café Über ß ç"],
    ["&#233;&#xE9;&#XE9; &euro &hellip;", "ééé € …"],
    ["&#150; &#0; &#xD800; &#x110000; &#99999999999999999999;", "– \ufffd \ufffd \ufffd \ufffd"],
    ["&nosuchname; &; AT&T &#; &#x;", "&nosuchname; &; AT&T &#; &#x;"],
    ["&constructor; &toString;", "&constructor; &toString;"],
  ])("reads the references of %s", (html, text) => {
    expect(textOf(html)).toBe(text);
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
    ["", ""],
  ])("of the malformed %j is what a browser makes of it", (html, text) => {
    expect(textOf(html)).toBe(text);
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
  ])("of %s without end is read in linear time", (_, html) => {
    const before = performance.now();
    expect(textOf(html).length).toBeLessThanOrEqual(html.length);
    expect(performance.now() - before).toBeLessThan(1_500);
  });
});

describe("of itself a page says", () => {
  test("its title, first heading, canonical address and base", () => {
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

  test("nothing if it does not", () => {
    expect(readHtml("<link rel=canonical><base><title> </title></link></base>a<h1>b")).toEqual({
      text: "a\nb",
      title: null,
      heading: "b",
      canonical: null,
      base: null,
    });
  });
});
