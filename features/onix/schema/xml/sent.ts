import { excerpt } from "../../../../schema/excerpt.ts";
import { child, childValue, type Element, valueOf } from "./element.ts";

/*
 * Reads who sent a message, and when. In: its header. Out: the name of the sender, and the time by
 * which older messages are recognized.
 */

const DAY_MS = 24 * 60 * 60 * 1000;

/** The maximum time in the future, since clocks differ. */
const MAX_AHEAD_MS = DAY_MS;

/**
 * The sender of a message by name, and the time in milliseconds. Null if it has none that can be
 * read and is plausible.
 */
export interface Sent {
  sender: string | null;
  at: number | null;
  /** The element of a time in the future. */
  ahead?: Element | undefined;
}

/** The maximum length of the name that identifies a sender, in characters. */
const MAX_SENDER = 500;

/** When and by whom a message with this header was sent. */
export function sentOf(header: Element): Sent {
  const sender = child(header, "Sender");
  const name = sender && childValue(sender, "SenderName");
  const time = child(header, "SentDateTime");
  const at = timeIn(valueOf(time) ?? "");
  const isAhead = at !== null && at > Date.now() + MAX_AHEAD_MS;
  return {
    sender: name === undefined ? null : excerpt(name, MAX_SENDER),
    at: isAhead ? null : at,
    ahead: isAhead ? time : undefined,
  };
}

/** ISO 8601 as ONIX has it, with or without separators: a day, an hour, a minute or a second, and a zone. */
const ISO_8601 =
  /^([1-9]\d{3})-?(\d\d)-?(\d\d)(?:[T ]?(\d\d)(?::?([0-5]\d)(?::?([0-5]\d|60)(?:[.,]\d+)?)?)?)? ?(Z|[+-][01]\d(?::?[0-5]\d)?)?$/i;

/** A time in milliseconds. A day without a time counts to its end, and no zone is UTC. */
function timeIn(text: string): number | null {
  const found = ISO_8601.exec(text);
  if (!found) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isWhole = found[4] === undefined;
  const time = isWhole ? DAY_MS - 1 : ((hour * 60 + minute) * 60 + second) * 1000;
  // 24:00 is the end of the day, and so is a leap second.
  if (!isDay || time > DAY_MS) return null;
  return date.getTime() + time - zoneOffset(found[7]);
}

/** The offset of a zone such as `+0130` in milliseconds. */
function zoneOffset(zone = "Z"): number {
  if (/z/i.test(zone)) return 0;
  const [hours, minutes = "0"] = zone.slice(1).match(/\d\d/g)!;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return zone.startsWith("-") ? -offset : offset;
}
