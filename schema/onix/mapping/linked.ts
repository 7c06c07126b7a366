import type { Entry } from "../../bodies.ts";
import type { Column, Values } from "../../fields.ts";
import { type Distinct, objectsIn } from "../../objects.ts";
import { RECORDS } from "../../records.ts";
import { child, childrenOf, childValue, type Element } from "../xml/element.ts";
import { NO_PUBLISHER } from "../xml/fillers.ts";
import { checked } from "./checks.ts";
import { fieldCodec, projectionOf } from "./fields.ts";
import { blockWith, type MappedField, type PartyName } from "./mapped.ts";
import { isAt, type Step, stepsOf } from "./path.ts";
import { codecAt } from "./path_codec.ts";
import type { Codec } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * What a record names, and a product refers to: publisher and imprint by name, with
 * identifiers, and the codes of lists with tables of their own.
 */

/** The references of a product to its parties, by the fields that name them. */
export const PARTY_REFERENCES: Readonly<Record<string, string>> = {
  publisher: "publisher_id",
  imprint: "imprint_id",
};

/** The identifiers of parties, by field. */
export const IDENTIFIERS: Readonly<Record<`${PartyName}_identifiers`, Values>> = {
  publisher_identifiers: RECORDS.publishers.fields.identifiers as Values,
  imprint_identifiers: RECORDS.imprints.fields.identifiers as Values,
};

/** Where a record has the names of parties. */
const PARTY_PLACES: Readonly<Record<PartyName, string>> = {
  publisher: "Publisher[PublishingRole=01]/PublisherName",
  imprint: "Imprint/ImprintName",
};

/** A name or code of what a product refers to. `none` is the code where it refers to nothing. */
export function linked(
  place: string,
  field: Column,
  valueIn: MappedField["valueIn"],
  none?: string,
): MappedField {
  const codec = checked(codecAt(place), field.body!);
  const [step, leaf] = stepsOf(place) as [Step, Step?];
  const read: Codec["read"] = (composite, reader) => {
    const value = codec.read(composite, reader);
    if (leaf) warnOfNameless(composite, step, leaf, reader);
    return value === none || isStandIn(composite, step) ? undefined : value;
  };
  const forgetParty: MappedField["forgetParty"] = (composite) => {
    const found = leaf &&
      childrenOf(composite, step.name).find((each) => isAt(step, each));
    if (!found) return;
    const codes = step.codes.map(([name]) => name);
    found.children = found.children.filter(({ name }) =>
      name === leaf.name || codes.includes(name)
    );
  };
  const project = projectionOf(place, field);
  return { block: blockWith(place), place, ...codec, project, read, valueIn, forgetParty };
}

/** A party by its name. */
export function namedParty(name: PartyName): MappedField {
  const field = RECORDS[`${name}s`].fields.name as Column;
  return linked(PARTY_PLACES[name], field, ({ product }) => product[`${name}_name`]);
}

/** Warns of the composites of a step that have its codes, and no name. */
function warnOfNameless(
  parent: Element,
  { name, codes }: Step,
  leaf: Step,
  reader: RecordReader,
): void {
  for (const each of childrenOf(parent, name)) {
    const hasCodes = codes.every(([code]) => child(each, code));
    if (hasCodes && !childValue(each, leaf.name)) reader.warnOfMissing(each, leaf.name);
  }
}

/** Whether the composite of a step stands in for a publisher that the product does not have. */
function isStandIn(parent: Element, { name }: Step): boolean {
  return child(parent, name)?.attributes.sourcename === NO_PUBLISHER;
}

/**
 * The identifiers of a party that a record names. They are values of the party, not of the
 * product, so they are not compared. Those of the record go out, but for the types that the
 * party has identifiers of: these are the party's.
 */
export function identifiersOf(party: PartyName): MappedField {
  const [step, leaf] = stepsOf(PARTY_PLACES[party]) as [Step, Step];
  const field = IDENTIFIERS[`${party}_identifiers`];
  const all = fieldCodec("identifiers", field, step.name)!;
  const typeOf = field.distinct![0]!.keyOf;
  const partyIn = (block: Element) => {
    const found = block.children.find((each) => isAt(step, each));
    const isNamed = found && childValue(found, leaf.name) !== undefined;
    return isNamed && !isStandIn(block, step) ? found : undefined;
  };
  const read: Codec["read"] = (block, reader) => {
    const found = partyIn(block);
    return found && all.read(found, reader);
  };
  return {
    block: blockWith(step.name),
    place: PARTY_PLACES[party].replace(leaf.name, `${step.name}Identifier`),
    read,
    write(block, now, _, reader) {
      const before = objectsIn(read(block, reader));
      let after = before;
      for (const own of objectsIn(now)) after = withIdentifier(own, after, typeOf);
      const found = partyIn(block);
      if (found && after !== before) all.write(found, after, before, reader);
    },
    project: () => undefined,
    valueIn: ({ identifiers }) => identifiers[party],
  };
}

/** Identifiers with this one, which takes the place of all others of its type. */
function withIdentifier(own: Entry, all: Entry[], typeOf: Distinct["keyOf"]): Entry[] {
  const [first, ...others] = all.filter((one) => typeOf(one) === typeOf(own));
  if (!first) return [...all, own];
  if (first.id_value === own.id_value) return all;
  return all.filter((one) => !others.includes(one)).map((one) => one === first ? own : one);
}
