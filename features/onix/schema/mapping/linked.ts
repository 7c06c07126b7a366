import type { Entry } from "../../../../schema/bodies.ts";
import type { Column, Values } from "../../../../schema/fields.ts";
import { type Distinct, objectsIn } from "../../../../schema/objects.ts";
import { RECORDS } from "../../../../schema/records.ts";
import { child, childrenOf, childValue, type Element } from "../xml/element.ts";
import { NO_PUBLISHER } from "../valid/placeholders.ts";
import { checked } from "../codecs/checks.ts";
import { fieldCodec, projectionOf } from "../codecs/fields.ts";
import { blockWith, type MappedField, type PartyName } from "./mapped.ts";
import { isAtSegment, type Segment, segmentsOf } from "../codecs/path.ts";
import { codecAt } from "../codecs/path_codec.ts";
import type { Codec } from "../codecs/codec.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * Fields that refer to a row or a code: publisher and imprint by name, with identifiers, and the
 * codes of lists with tables of their own.
 */

/** The identifiers of parties, by field. */
export const IDENTIFIERS: Readonly<Record<`${PartyName}_identifiers`, Values>> = {
  publisher_identifiers: RECORDS.publishers.fields.identifiers as Values,
  imprint_identifiers: RECORDS.imprints.fields.identifiers as Values,
};

/** The paths of the names of parties. */
const PARTY_PATHS: Readonly<Record<PartyName, string>> = {
  publisher: "Publisher[PublishingRole=01]/PublisherName",
  imprint: "Imprint/ImprintName",
};

/** Makes a field of the name or code of a referenced row. `none` is the code without a reference. */
export function linked(
  field: string,
  path: string,
  column: Column,
  valueIn: MappedField["valueIn"],
  none?: string,
): MappedField {
  const codec = checked(named(path), column.body!);
  const [segment, leaf] = segmentsOf(path) as [Segment, Segment?];
  const read: Codec["read"] = (composite, reader) => {
    const value = codec.read(composite, reader);
    if (leaf) warnOfNameless(composite, segment, leaf, reader);
    return value === none || isPlaceholder(composite, segment) ? undefined : value;
  };
  const forgetParty: MappedField["forgetParty"] = (composite) => {
    const found = leaf &&
      childrenOf(composite, segment.name).find((each) => isAtSegment(segment, each));
    if (!found) return;
    const codes = segment.codes.map(([name]) => name);
    const own = child(found, leaf.name);
    found.children = found.children.filter((each) => each === own || codes.includes(each.name));
  };
  const project = projectionOf(path, column);
  return { field, block: blockWith(path), path, ...codec, project, read, valueIn, forgetParty };
}

/** A code, or a name. An inverted name that stands alone is the name, as it is written. */
function named(path: string): Codec {
  const plain = codecAt(path);
  const inverted = path.includes("/") ? codecAt(`${path}Inverted`) : undefined;
  if (!inverted) return plain;
  return {
    ...plain,
    find: (composite) => plain.find!(composite) ?? inverted.find!(composite),
    read: (composite, reader) =>
      (plain.find!(composite) || !inverted.find!(composite) ? plain : inverted)
        .read(composite, reader),
  };
}

/** A party by its name. */
export function namedParty(name: PartyName): MappedField {
  const column = RECORDS[`${name}s`].fields.name as Column;
  const valueIn: MappedField["valueIn"] = ({ product }) => product[`${name}_name`];
  return linked(`${name}_id`, PARTY_PATHS[name], column, valueIn);
}

/** Warns of the composites of a segment that have its codes, and no name. */
function warnOfNameless(
  parent: Element,
  { name, codes }: Segment,
  leaf: Segment,
  reader: RecordReader,
): void {
  for (const each of childrenOf(parent, name)) {
    const hasCodes = codes.every(([code]) => child(each, code));
    if (hasCodes && !nameIn(each, leaf)) reader.warnOfMissing(each, leaf.name);
  }
}

/** The name of a party in its composite, plain or else inverted. */
function nameIn(party: Element, { name }: Segment): string | undefined {
  return childValue(party, name) ?? childValue(party, `${name}Inverted`);
}

/**
 * Whether the composite of a segment is a placeholder for a publisher that the product does not
 * have.
 */
function isPlaceholder(parent: Element, { name }: Segment): boolean {
  return child(parent, name)?.attributes.sourcename === NO_PUBLISHER;
}

/**
 * Makes the field of a party's identifiers. They are values of the party, not of the product, so
 * they are not compared. The record's identifiers are sent, except types that the party has itself:
 * then the party's are sent.
 */
export function identifiersOf(party: PartyName): MappedField {
  const [segment, leaf] = segmentsOf(PARTY_PATHS[party]) as [Segment, Segment];
  const array = IDENTIFIERS[`${party}_identifiers`];
  const all = fieldCodec("identifiers", array, segment.name)!;
  const typeOf = array.distinct![0]!.keyOf;
  const partyIn = (block: Element) => {
    const found = block.children.find((each) => isAtSegment(segment, each));
    const isNamed = found && nameIn(found, leaf) !== undefined;
    return isNamed && !isPlaceholder(block, segment) ? found : undefined;
  };
  const read: Codec["read"] = (block, reader) => {
    const found = partyIn(block);
    return found && all.read(found, reader);
  };
  return {
    field: `${party}_id`,
    block: blockWith(segment.name),
    path: PARTY_PATHS[party].replace(leaf.name, `${segment.name}Identifier`),
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

/** Adds an identifier, in place of all others of its type. */
function withIdentifier(own: Entry, all: Entry[], typeOf: Distinct["keyOf"]): Entry[] {
  const [first, ...others] = all.filter((one) => typeOf(one) === typeOf(own));
  if (!first) return [...all, own];
  if (first.id_value === own.id_value) return all;
  return all.filter((one) => !others.includes(one)).map((one) => one === first ? own : one);
}
