/*
 * Decimal numbers as senders write them. In: the text of one, such as `30,80`. Out: the same
 * number as ONIX or the API has it.
 */

/** Whether a comma in a number may separate thousands, as in `1,234`. */
export function isAmbiguous(number: string): boolean {
  return /,\d{3}$/.test(number);
}

/** A number with a decimal comma, as `30,80`, with a point. */
export function withPoint(number: string): string {
  return /^[+-]?\d+,\d+$/.test(number) && !isAmbiguous(number) ? number.replace(",", ".") : number;
}

/** Returns a decimal number as the API shows it: without a plus sign and insignificant zeros. */
export function shortest(number: string): string {
  const [, whole = "", fraction = ""] = /^\+?(\d*)(?:\.(\d*))?$/.exec(number) ??
    [];
  if (whole === "" && fraction === "") return number;
  let end = fraction.length;
  // A pattern such as /0+$/ takes the square of the time for many zeros before a digit.
  while (fraction[end - 1] === "0") end--;
  return (whole.replace(/^0+/, "") || "0") +
    (end > 0 ? `.${fraction.slice(0, end)}` : "");
}

/** Whether a number is 0, in any form: `0`, `0.`, `+0,00`. */
export function isZero(number: string): boolean {
  return /^\+?(?:0+(?:[.,]0*)?|[.,]0+)$/.test(number);
}

/** A whole number that is written as a decimal one, such as `12.0`. */
export function withoutFraction(number: string): string {
  return withPoint(number).replace(/\.0*$/, "");
}
