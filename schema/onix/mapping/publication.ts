import type { Entry } from "../../bodies.ts";
import { isEqual, objectsIn } from "../../objects.ts";
import type { RecordValues } from "./reading.ts";

/*
 * A date and how much of it is known are one value. A product has the day of its publication
 * in a field of its own, and a month or year, which announces it, among its dates: who
 * changes one changes the other. So they are compared as one date.
 */

/** The fields that say when a product is published. */
export const DATES = ["publication_date", "publishing_dates"] as const;

function isAnnouncement({ publishing_date_role }: Entry): boolean {
  return publishing_date_role === "01";
}

/** The values with the day, month or year of publication as `publication_date`. */
export function withOneDate(values: RecordValues): RecordValues {
  const all = objectsIn(values.publishing_dates);
  const announced = all.find(isAnnouncement);
  return !announced ? values : {
    ...values,
    publication_date: values.publication_date ?? announced.date,
    publishing_dates: all.filter((one) => !isAnnouncement(one)),
  };
}

/** Whether a date of publication is a month or a year: its day is not known. */
export function isAnnounced(date: unknown): boolean {
  return typeof date === "string" && date.length < 10;
}

/** The same two fields as a product has them, in the order of a record that says the same. */
export function withOwnDates(
  { publication_date: date, publishing_dates }: RecordValues,
  record: RecordValues,
): RecordValues {
  if (!isAnnounced(date)) {
    return { publication_date: date, publishing_dates };
  }
  const announced = { publishing_date_role: "01", date };
  const dates = [announced, ...objectsIn(publishing_dates)];
  const said = objectsIn(record.publishing_dates);
  const isSaid = dates.length === said.length &&
    dates.every((one) => said.some((other) => isEqual(one, other)));
  return {
    publication_date: undefined,
    publishing_dates: isSaid ? said : dates,
  };
}
