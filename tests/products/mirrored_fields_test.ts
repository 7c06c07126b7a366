import { assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { idOfCode } from "../../schema/code_ids.ts";

const it = testsOf("Mirrored fields");

const url = (name: string) => `https://covers.example/${name}.jpg`;

const resource = (resource_content_type: string, ...links: string[]) => ({
  resource_content_type,
  content_audience: ["00"],
  resource_mode: "03",
  resource_versions: links.map((link) => ({
    resource_form: "02",
    resource_links: [link],
  })),
});

const AUTHOR = resource("04", url("author"));

/** What is stored and sent, each as the cover and the links of all resources, and what is then shown. */
// deno-fmt-ignore
const COVERS: Record<string, [before: Places, body: Places, after: Places]> = {
  "a cover changes the first link of the first front cover":
    [["a", "author", "a", "b"], ["c"], ["c", "author", "c", "b"]],
  "and one that the field did not have": [["x", "a"], ["c"], ["c", "c"]],
  "a cover that is none leaves the link": [["a", "a"], [null], [null, "a"]],
  "without a front cover it is alone": [["a", "author"], ["c"], ["c", "author"]],
  "a link changes the cover": [["a", "author", "a"], [undefined, "author", "b"], ["b", "author", "b"]],
  "also in the whole product": [["a", "author", "a"], ["a", "author", "b"], ["b", "author", "b"]],
  "as the cover changes the link there": [["a", "a", "author"], ["b", "a", "author"], ["b", "b", "author"]],
  "the resource that takes its place, too": [["a", "a", "b"], [undefined, "b", "a"], ["b", "b", "a"]],
  "what is changed in both stays as it is": [["a", "a"], ["b", "c"], ["b", "c"]],
  "what is changed in none stays as it is": [["x", "a"], ["x", "a"], ["x", "a"]],
  "a front cover that is gone leaves the cover": [["a", "a"], [undefined, "author"], ["a", "author"]],
  "a first one leaves it, too": [["a", "author"], [undefined, "author", "b"], ["a", "author", "b"]],
};

/** A cover, and the links of front covers, or of the author. */
type Places = [cover: string | null | undefined, ...links: string[]];

function bodyOf([cover, ...links]: Places) {
  return {
    title: "Covers",
    ...cover !== undefined && { cover_image_url: cover && url(cover) },
    ...links.length > 0 && {
      supporting_resources: links.map((link) =>
        link === "author" ? AUTHOR : resource("01", url(link))
      ),
    },
  };
}

it("is changed in both: the cover", async ({ org }) => {
  for (const [name, [before, body, after]] of Object.entries(COVERS)) {
    const [one, other] = [
      await org.create(bodyOf(before)),
      await org.create(bodyOf(before)),
    ];
    const { body: { data: shown } } = await org.put(one.path, bodyOf(body));
    const { body: { data: [{ data }] } } = await org.batch([{
      method: "update",
      id: other.id,
      body: bodyOf(body),
    }]);
    for (const product of [shown, data]) {
      const { cover_image_url, supporting_resources } = product;
      const links = JSON.stringify(supporting_resources).match(/https:[^"]+/g);
      const [cover, ...others] = after;
      assertEquals(
        [cover_image_url, ...links!],
        [cover && url(cover), ...others.map((link) => url(link))],
        name,
      );
    }
  }
});

it("stays as a whole product has it", async ({ org }) => {
  const isbn13 = "9780306406157";
  const said = { isbn13, ...bodyOf(["x", "a"]) };
  await org.create({ isbn13, ...bodyOf(["y", "a"]) });
  const upsert = async () => {
    const { body: { data: [{ updated_at }] } } = await org.batch([
      { method: "upsert", match: "isbn13", body: said },
    ]).then(() => org.get(`/api/products?isbn13=${isbn13}`));
    const { body: { data: [found] } } = await org.get(
      `/api/products?isbn13=${isbn13}&include=supporting_resources`,
    );
    const links = JSON.stringify(found.supporting_resources);
    return [found.cover_image_url, links.match(/https:[^"]+/g), updated_at];
  };
  const [cover, links, at] = await upsert();
  assertEquals([cover, links], [url("x"), [url("a")]]);
  assertEquals(await upsert(), [cover, links, at]);
});

it("is changed in both: the availability", async ({ org }) => {
  const { id, path } = await org.create({
    title: "Availability",
    product_availability_code: "20",
  });
  const other = await org.create({
    title: "Other",
    product_availability_code: "20",
  });
  const supplies = (...codes: string[]) => [{
    supply_details: codes.map((product_availability) => ({
      product_availability,
    })),
  }];
  for (const each of [path, other.path]) {
    await org.put(`${each}/territories`, supplies("20", "40", "20"));
  }
  const codes = async (of: string) =>
    (await org.get(of)).body.data.product_territories[0].supply_details
      .map(({ product_availability }: { product_availability: string }) => product_availability);

  await org.put(path, { product_availability_id: idOfCode("65", "31") });
  assertEquals(await codes(path), ["31", "40", "31"]);
  await org.put(path, {
    product_availability_id: idOfCode("65", "31"),
    title: "Same",
  });
  assertEquals(await codes(path), ["31", "40", "31"]);
  await org.batch([
    { method: "update", id, body: { product_availability_code: "40" } },
  ]);
  assertEquals(await codes(path), ["40", "40", "40"]);
  await org.put(path, { product_availability_id: null });
  assertEquals(await codes(path), ["40", "40", "40"]);
  assertEquals(await codes(other.path), ["20", "40", "20"]);
});

it("another cover has none of the features of the former file", async ({ org }) => {
  const features = ["01", "02", "05", "06", "08"].map((resource_version_feature_type) => ({
    resource_version_feature_type,
    feature_value: resource_version_feature_type === "01" ? "D502" : "1",
  }));
  const [cover, other] = [resource("01", url("a")), resource("01", url("b"))];
  for (const { resource_versions: [version] } of [cover, other]) {
    Object.assign(version!, { resource_version_features: features });
  }
  const { path } = await org.create({
    title: "Covers",
    supporting_resources: [AUTHOR, cover, other],
  });

  const { body: { data } } = await org.put(path, { cover_image_url: url("c") });

  const types = data.supporting_resources.map(({ resource_versions: [version] }: Any) =>
    version.resource_version_features.map((one: Any) => one.resource_version_feature_type)
  );
  assertEquals(types, [[], ["01"], ["01", "02", "05", "06", "08"]]);
});

// deno-lint-ignore no-explicit-any
type Any = any;
