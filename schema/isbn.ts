/** Removes hyphens and spaces; the check character `x` becomes `X`. */
export function bareIsbn(isbn: string): string {
  return isbn.replace(/[- ]/g, "").replace("x", "X");
}

/** The check digit of an ISBN-13 by its first twelve digits (ISO 2108). */
export function isbn13CheckDigit(digits: string): string {
  const sum = [...digits.slice(0, 12)]
    .reduce((sum, digit, i) => sum + Number(digit) * (i % 2 ? 3 : 1), 0);
  return String((10 - sum % 10) % 10);
}

/** The check character of an ISBN-10 by its first nine digits (ISO 2108). */
export function isbn10CheckDigit(digits: string): string {
  const sum = [...digits.slice(0, 9)]
    .reduce((sum, digit, i) => sum + Number(digit) * (10 - i), 0);
  const check = (11 - sum % 11) % 11;
  return check === 10 ? "X" : String(check);
}
