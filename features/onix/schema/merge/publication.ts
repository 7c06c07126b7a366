import type { Entry } from "../../../../schema/bodies.ts";
import { isEqual, objectsIn } from "../../../../schema/objects.ts";
import type { RecordValues } from "../mapping/reading.ts";

/*
 * Merges the date of publication as one value. A product has the day in a field of its own, and a
 * month or year, which announces it, in an array. A change of one changes the other.
 */

/** The fields with the date of publication. */
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

/** Whether a date of publication is a month or a year, without a day. */
export function isAnnounced(date: unknown): boolean {
  return typeof date === "string" && date.length < 10;
}

/** Splits the date into a product's two fields. If a record has the same dates, they get its order. */
export function withOwnDates(
  { publication_date: date, publishing_dates }: RecordValues,
  record: RecordValues,
): RecordValues {
  if (!isAnnounced(date)) {
    return { publication_date: date, publishing_dates };
  }
  const announced = { publishing_date_role: "01", date };
  const dates = [announced, ...objectsIn(publishing_dates)];
  const inRecord = objectsIn(record.publishing_dates);
  const isSame = dates.length === inRecord.length &&
    dates.every((one) => inRecord.some((other) => isEqual(one, other)));
  return {
    publication_date: undefined,
    publishing_dates: isSame ? inRecord : dates,
  };
}
