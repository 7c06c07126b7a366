/** Thrown by an import that ends early. Its cause is the reason. */
export class ImportEnded<Report> extends Error {
  override readonly name = "ImportEnded";
  /** The report on what was read before the end. */
  readonly report: Report;

  constructor(report: Report, cause: unknown) {
    super("The import has ended before the end of what it reads", { cause });
    this.report = report;
  }
}
