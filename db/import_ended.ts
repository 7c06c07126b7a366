/** An import that has ended before the end of what it reads. Its cause is the reason. */
export class ImportEnded<Report> extends Error {
  override readonly name = "ImportEnded";
  /** What became of what was read before. */
  readonly report: Report;

  constructor(report: Report, cause: unknown) {
    super("The import has ended before the end of what it reads", { cause });
    this.report = report;
  }
}
