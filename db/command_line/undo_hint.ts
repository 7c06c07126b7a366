/** Prints how to undo the run of a command when it ends, also early: what it has written stays. */
export function undoHint(organization: string, runId: string): Disposable {
  return {
    [Symbol.dispose]() {
      console.error(
        `This run is ${runId}. To undo it: deno task history undo --organization ${organization} --request ${runId}`,
      );
    },
  };
}
