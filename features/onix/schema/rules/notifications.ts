/* The purpose of a record: its `NotificationType` (List 1). */

/** The types that the service reads. */
export const NOTIFICATIONS = ["01", "02", "03", "04", "05", "88", "89"] as const;

export type Notification = typeof NOTIFICATIONS[number];

/** A complete, confirmed record. It is sent for a product without a record. */
export const CONFIRMED = "03" satisfies Notification;

/** A partial update: its blocks replace those of the last record. */
export const PARTIAL = "04" satisfies Notification;

/** A deletion. Only the identifiers that find its product are read. */
export const DELETION = "05" satisfies Notification;

/** Whether a record is a test, which writes nothing. */
export function isTest(notification: Notification): boolean {
  return notification === "88" || notification === "89";
}
