/** The result of a check, with advice if something is wrong, or should be corrected by customers. */
export interface Finding {
  ok: boolean;
  finding: string;
  advice?: string | undefined;
}

/** The findings by the names of the checks, in order. */
export type Findings = Record<string, Finding>;

export function fine(finding: string): Finding {
  return { ok: true, finding };
}

export function wrong(finding: string, advice?: string): Finding {
  return { ok: false, finding, advice };
}
