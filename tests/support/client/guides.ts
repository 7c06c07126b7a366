/** The code blocks of these guides in a language, in their order. */
export async function codeOf(
  guides: readonly string[],
  language: string,
): Promise<string[]> {
  const texts = await Promise.all(guides.map((name) =>
    Deno.readTextFile(
      new URL(`../../../routes/docs/guides/${name}.md`, import.meta.url),
    )
  ));
  const blocks = texts.join("\n").matchAll(/^```(\w+)\n(.+?)^```$/gms);
  return Array.from(blocks).filter(([, given]) => given === language)
    .map(([, , text]) => text!);
}
