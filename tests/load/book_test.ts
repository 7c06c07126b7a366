import { assertEquals, assertThrows } from "@std/assert";
import { booksOf } from "./book.ts";

const HEADER = "isbn,authors,original_publication_year,title,image_url\n";

const COVER = "https://covers.example/1.jpg";

/** The book of a row with this title, in CSV. */
function titled(title: string) {
  const [book] = booksOf(`${HEADER},Jane Austen,,${title},${COVER}`);
  return [book!.product.title, book!.series];
}

const TITLES: Record<string, [title: string, series: string | undefined]> = {
  "Emma": ["Emma", undefined],
  '"Say ""Emma"",\nand go"': ['Say "Emma",\nand go', undefined],
  "Emma (Annotated)": ["Emma (Annotated)", undefined],
  '"Emma (Novels, #1)"': ["Emma", "Novels"],
  '"Emma  (Novels, #1-4 + 3.5)"': ["Emma", "Novels"],
  "Emma (Novels#1)": ["Emma", "Novels"],
  '"Emma (Annotated) (Novels, #1)"': ["Emma (Annotated)", "Novels"],
  '"Ranma (Ranma ½ (US 2nd), #1)"': ["Ranma", "Ranma ½ (US 2nd)"],
  '"Part 2 (Memory, Sorrow, and Thorn, #3; Part 2)"': [
    "Part 2",
    "Memory, Sorrow, and Thorn",
  ],
};

Deno.test("booksOf", async ({ step: it }) => {
  for (const [given, expected] of Object.entries(TITLES)) {
    await it(`finds title and series of ${given}`, () => {
      assertEquals(titled(given), expected);
    });
  }

  await it("repairs ISBNs and years, and leaves out what is wrong", () => {
    const books = booksOf(
      `${HEADER}439023483,Suzanne Collins,2008.0,Games,${COVER}\r\n` +
        `812971060,"Homer, Robert  Fagles, Homer ,Robert Fagles",-720.0,Odyssey,${COVER}\n`,
    );

    assertEquals(books.map(({ product }) => product), [
      {
        title: "Games",
        isbn10: "0439023483",
        isbn13: "9780439023481",
        publication_date: "2008-01-01",
        cover_image_url: COVER,
      },
      { title: "Odyssey", cover_image_url: COVER },
    ]);
    assertEquals(books[1]!.authors, ["Homer", "Robert Fagles"]);
  });

  await it("refuses what is no CSV of books", () => {
    assertThrows(() => booksOf('a"b'), SyntaxError, "unexpected quote");
    assertThrows(() => booksOf("a,b\n1\n"), SyntaxError, "Row 2 has 1 fields");
  });
});
