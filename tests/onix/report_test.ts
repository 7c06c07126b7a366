import { assertEquals, assertStringIncludes } from "@std/assert";
import { writeAcknowledgement } from "../../features/onix/schema/report/acknowledgement.ts";
import type { Message } from "../../features/onix/schema/report/message.ts";
import { type Outcome, ReportTally } from "../../features/onix/schema/report/report.ts";
import type { Paths } from "../../features/onix/schema/xml/paths.ts";

const WARNING: Message = {
  severity: "warning",
  code: "invalid_code",
  path: "/Product/DescriptiveDetail/Language/LanguageCode",
  value: "<zz>",
  message: "Expected a code of ONIX List 74",
};

function outcome(rest: Partial<Outcome> = {}): Outcome {
  return {
    record_reference: "1",
    line: 1,
    id: null,
    outcome: "created",
    messages: [],
    ...rest,
  };
}

function of(...paths: string[]): Paths {
  return { paths, more: 0 };
}

function acknowledged(tally: ReportTally): string {
  const { warned } = tally;
  const message = { sender: "Harbour Press", sentAt: new Date(0), warned };
  return [...writeAcknowledgement(tally.report(), message)].join("");
}

Deno.test("A report", async (t) => {
  await t.step("counts records, warnings and paths", () => {
    const tally = new ReportTally(true);
    tally.add(outcome(), { unmapped: of("/Product/Barcode") });
    tally.add(outcome({ outcome: "unchanged" }), {
      unmapped: of("/Product/Barcode"),
      notSent: of("/a"),
    });
    tally.add(outcome({ outcome: "unchanged", messages: [WARNING] }));
    const { outcomes, ...counts } = tally.report();
    assertEquals(counts, {
      records: 3,
      created: 1,
      updated: 0,
      unchanged: 2,
      deleted: 0,
      rejected: 0,
      warnings: 1,
      dry_run: true,
      more: 0,
      more_messages: 0,
      more_paths: 0,
      unmapped: [{ path: "/Product/Barcode", records: 2 }],
      not_sent: [{ path: "/a", records: 1 }],
    });
    assertEquals(outcomes.map(({ outcome }) => outcome), [
      "created",
      "unchanged",
    ]);
  });

  await t.step(
    "has the first messages and paths, and counts the others",
    () => {
      const tally = new ReportTally(false);
      const messages = Array<Message>(100).fill(WARNING);
      for (let i = 0; i < 250; i++) {
        tally.add(outcome({ messages }), {
          unmapped: { ...of(`/${i}`, `/a${i}`, `/b${i}`, `/c${i}`), more: 1 },
          notSent: of(...Array.from({ length: 10 }, (_, j) => `/${i}/${j}`)),
          moreMessages: 2,
        });
      }
      tally.add(outcome(), { unmapped: of("/1", "/d") });
      const report = tally.report();
      assertEquals(
        report.outcomes.flatMap(({ messages }) => messages).length,
        20_000,
      );
      assertEquals(report.warnings, 250 * 102);
      assertEquals(report.more_messages, 250 * 102 - 20_000);
      assertEquals([report.unmapped.length, report.not_sent.length], [
        1_000,
        1_000,
      ]);
      assertEquals(report.unmapped[0], { path: "/1", records: 2 });
      assertEquals(report.more_paths, 250 + 1 + 1_500);
    },
  );

  await t.step("has a hundred messages of a record, and its errors", () => {
    const tally = new ReportTally(false);
    const error: Message = { ...WARNING, severity: "error" };
    const messages = [...Array<Message>(450).fill(WARNING), error];
    tally.add(outcome({ messages }), { moreMessages: 2 });
    const { outcomes, warnings, more_messages } = tally.report();
    const told = outcomes[0]!.messages;
    assertEquals([told.length, told[0]], [100, error]);
    assertEquals([warnings, more_messages], [452, 353]);
  });

  await t.step("has the first ten thousand outcomes", () => {
    const tally = new ReportTally(false);
    for (let i = 0; i < 10_003; i++) tally.add(outcome());
    const { outcomes, more, created } = tally.report();
    assertEquals([outcomes.length, more, created], [10_000, 3, 10_003]);
  });

  await t.step("is also an acknowledgement", () => {
    const rejected = outcome({
      outcome: "rejected",
      messages: [{ ...WARNING, severity: "error" }],
    });
    const all = new ReportTally(false);
    all.add(rejected);
    assertStringIncludes(
      acknowledged(all),
      "<MessageStatus>01</MessageStatus>",
    );
    const some = new ReportTally(false);
    some.add(rejected);
    some.add(outcome({ messages: [WARNING] }));
    some.add(outcome({ outcome: "unchanged" }));
    const text = acknowledged(some);
    assertStringIncludes(text, "<MessageStatus>02</MessageStatus>");
    for (const status of ["00", "02", "03"]) {
      assertStringIncludes(
        text.replace(/\s+/g, ""),
        `<RecordStatus>${status}</RecordStatus><NumberOfRecords>1</NumberOfRecords>`,
      );
    }
    assertStringIncludes(
      text.replace(/>\s+</g, "><"),
      [
        "<StatusDetailType>W</StatusDetailType>",
        "<StatusDetailCodeType>02</StatusDetailCodeType>",
        "<StatusDetailCode>001</StatusDetailCode>",
        `<StatusDetailText>${WARNING.code}: ${WARNING.message} (&lt;zz&gt;)</StatusDetailText>`,
        `<StatusDetailXPath>${WARNING.path}</StatusDetailXPath>`,
      ].join(""),
    );
    assertStringIncludes(text, "<StatusDetailType>E</StatusDetailType>");
    const none = new ReportTally(false);
    none.add(outcome({ outcome: "unchanged" }));
    assertStringIncludes(
      acknowledged(none),
      "<MessageStatus>03</MessageStatus>",
    );
    assertStringIncludes(acknowledged(none), "<NoProduct/>");
  });

  await t.step("is acknowledged with every warned record, also where it has no room", () => {
    const tally = new ReportTally(false);
    for (let i = 0; i < 10_005; i++) tally.add(outcome({ messages: [WARNING] }));
    tally.add(outcome());
    const text = acknowledged(tally).replace(/\s+/g, "");
    for (const [status, count] of [["00", 1], ["02", 10_005]]) {
      assertStringIncludes(
        text,
        `<RecordStatus>${status}</RecordStatus><NumberOfRecords>${count}</NumberOfRecords>`,
      );
    }
  });
});
