import { assertEquals } from "@std/assert";
import { bookOf } from "./book.ts";

const RECORD = {
  book_id: "1",
  isbn: "439023483",
  authors: "Suzanne Collins",
  original_publication_year: "2008.0",
  title: "The Hunger Games (The Hunger Games, #1)",
  image_url: "https://covers.example/1.jpg",
};

const TITLES: Record<string, [title: string, series: string | undefined]> = {
  "Emma": ["Emma", undefined],
  "Emma (Annotated)": ["Emma (Annotated)", undefined],
  "Emma (Novels, #1)": ["Emma", "Novels"],
  "Emma  (Novels, #1-4 + 3.5)": ["Emma", "Novels"],
  "Emma (Novels#1)": ["Emma", "Novels"],
  "Emma (Annotated) (Novels, #1)": ["Emma (Annotated)", "Novels"],
  "Ranma (Ranma ½ (US 2nd), #1)": ["Ranma", "Ranma ½ (US 2nd)"],
  "Part 2 (Memory, Sorrow, and Thorn, #3; Part 2)": [
    "Part 2",
    "Memory, Sorrow, and Thorn",
  ],
  "Steam (Discworld, #40, Moist von Lipwig #3 )": ["Steam", "Discworld"],
};

Deno.test("bookOf", async ({ step: it }) => {
  await it("pads the ISBN-10 and computes the ISBN-13", () => {
    const { product, omissions } = bookOf(RECORD);

    assertEquals(product, {
      title: "The Hunger Games",
      isbn10: "0439023483",
      isbn13: "9780439023481",
      publication_date: "2008-01-01",
      cover_image_url: "https://covers.example/1.jpg",
    });
    assertEquals(omissions, []);
  });

  for (const [given, [title, series]] of Object.entries(TITLES)) {
    await it(`finds the series of ${given}`, () => {
      const book = bookOf({ ...RECORD, title: given });

      assertEquals([book.product.title, book.series], [title, series]);
    });
  }

  await it("names the omitted fields", () => {
    const { product, authors, omissions } = bookOf({
      ...RECORD,
      isbn: "812971060",
      authors: "Homer, Robert Fagles, Homer",
      original_publication_year: "-720.0",
    });

    assertEquals(Object.keys(product), ["title", "cover_image_url"]);
    assertEquals(authors, ["Homer", "Robert Fagles"]);
    assertEquals(omissions, [
      "an author is named twice",
      "0812971060 is no ISBN-10: expected the check digit X",
      "-720.0 is no year from 1 to 9999",
    ]);
  });

  await it("accepts a book without ISBN and year", () => {
    const { product, omissions } = bookOf({
      ...RECORD,
      isbn: "",
      original_publication_year: "",
    });

    assertEquals(Object.keys(product), ["title", "cover_image_url"]);
    assertEquals(omissions, []);
  });
});
