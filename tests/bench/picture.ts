import { BARE } from "./peers.ts";
import { median, type Result } from "./report.ts";

/** The scenarios in the chart, with their labels. */
const PANELS = { GET: "Get one product", LIST: "List 50 products" };

const WIDTH = 720;
const MARGIN = 24;
const LABELS = 150;
const FIGURES = 80;
const BAR = 22;
const STEP = 30;

/** The rates of the service and its peers as horizontal bars (SVG). */
export function drawPeers(
  results: Result[],
  { products }: { products: number },
): string {
  const { clients } = results[0]!;
  let y = 76;
  const panels = Object.entries(PANELS).map(([scenario, title]) => {
    const bars = results
      .filter((result) =>
        result.scenario === scenario && result.clients === clients &&
        result.contestant !== BARE
      )
      .map(({ contestant, runs }) => ({
        contestant,
        rate: median(runs.map(({ rate }) => rate)),
      }));
    const panel = panelOf(title, bars, y);
    y += bars.length * STEP + 48;
    return panel;
  });
  const subtitle = `Requests per second, higher is better: ${clients} clients, ` +
    `${products.toLocaleString("en")} products`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${
    y - 16
  }" role="img" aria-label="${subtitle}">
<style>
  svg { font: 14px system-ui, sans-serif; --ground: #ffffff; --text: #1f2328; --quiet: #59636e; --bar: #c0c8d1; --service: #0969da }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --text: #f0f6fc; --quiet: #9198a1; --bar: #3d444d; --service: #4493f8 }
  }
  text { fill: var(--text) }
  .quiet { fill: var(--quiet) }
  .title { font-weight: 600 }
  rect { fill: var(--bar) }
  .service { fill: var(--service) }
  .ground { fill: var(--ground) }
</style>
<rect class="ground" width="100%" height="100%" rx="8"/>
<text class="quiet" x="${MARGIN}" y="36">${subtitle}</text>
${panels.join("\n")}
</svg>
`;
}

function panelOf(
  title: string,
  bars: { contestant: string; rate: number }[],
  top: number,
): string {
  const most = Math.max(...bars.map(({ rate }) => rate));
  const start = MARGIN + LABELS;
  const room = WIDTH - MARGIN - FIGURES - start;
  const lines = bars.map(({ contestant, rate }, i) => {
    const y = top + 14 + i * STEP;
    const width = Math.max(1, rate / most * room).toFixed(1);
    const figure = rate.toLocaleString("en", { maximumFractionDigits: 0 });
    const kind = contestant === "service" ? ' class="service"' : "";
    return `<text x="${start - 10}" y="${y + 16}" text-anchor="end">${contestant}</text>
<rect${kind} x="${start}" y="${y}" width="${width}" height="${BAR}" rx="3"/>
<text x="${start + Number(width) + 8}" y="${y + 16}">${figure}</text>`;
  });
  return [
    `<text class="title" x="${MARGIN}" y="${top}">${title}</text>`,
    ...lines,
  ].join("\n");
}
