import { make } from "./make.js";

/* Samples of requests, in curl and in TypeScript. They name variables in place of credentials. */

/** The languages in the order of their tabs, with their text for a request. */
export const LANGUAGES = { curl: curlOf, TypeScript: typeScriptOf };

/** The variables of each caller's headers. */
const CALLERS = {
  key: ["x-api-key: $KEY"],
  session: [
    "authorization: Bearer $TOKEN",
    "x-organization-id: $ORGANIZATION",
  ],
  nobody: [],
};

/**
 * A request in curl. It has the method, the path as in the OpenAPI document (`path`) and with
 * its values (`url`), the set parameters, the body as JSON or the name and the media type of a
 * file, such as an ONIX message or a sheet, and who sends it.
 */
function curlOf(request) {
  const { method, headers, body, file, type, caller } = request;
  const address = `$BASE_URL${addressOf(request)}`;
  const isDefault = method === "GET" ||
    method === "POST" && (body || file);
  return [
    `curl -sS${isDefault ? "" : ` -X ${method}`} "${address}"`,
    ...CALLERS[caller].map((header) => `-H "${header}"`),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...body ? [`-H "content-type: application/json"`, `-d ${quoted(body)}`] : [],
    ...file
      ? [
        `-H "content-type: ${type}"`,
        `--data-binary ${quoted(`@${file}`)}`,
      ]
      : [],
  ].join(" \\\n  ");
}

function addressOf({ url, query }) {
  const search = new URLSearchParams(query.map(([name, value]) => [
    name,
    String(value),
  ]));
  return `${url}${search.size ? `?${search}` : ""}`;
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typeScriptOf(request) {
  const { method, path, pathParameters, query, headers, body, file } = request;
  if (file) {
    return `const response = await fetch(\`\${baseUrl}${addressOf(request)}\`, {
  method: "${method}",
  headers: { "x-api-key": KEY, "content-type": "${request.type}" },
  body: await readFile(${JSON.stringify(file)}),
});`;
  }
  const parameters = Object.entries({
    path: pathParameters,
    query,
    header: headers,
  }).filter(([, entries]) => entries.length > 0)
    .map(([place, entries]) => [place, Object.fromEntries(entries)]);
  const init = {
    ...parameters.length > 0 && { params: Object.fromEntries(parameters) },
    ...body && { body: parsed(body) },
  };
  const rest = Object.keys(init).length > 0 ? `, ${literal(init)}` : "";
  return `const { data, error } = await client.${method}("${path}"${rest});`;
}

/** The value of JSON, or the text itself while it is being written. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The longest object or array on one line. */
const WIDTH = 60;

/** A JSON value as a TypeScript literal. */
function literal(value, indent = "") {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const [start, end] = Array.isArray(value) ? "[]" : "{}";
  const deeper = `${indent}  `;
  const entries = Object.entries(value).map(([name, entry]) => {
    const text = literal(entry, deeper);
    if (Array.isArray(value)) return text;
    return `${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}: ${text}`;
  });
  if (entries.length === 0) return start + end;
  const space = start === "{" ? " " : "";
  const line = start + space + entries.join(", ") + space + end;
  return line.length <= WIDTH && !line.includes("\n")
    ? line
    : `${start}\n${entries.map((entry) => `${deeper}${entry},\n`).join("")}${indent}${end}`;
}

/** What is told apart by colour: comments, texts and words of the languages. */
const COLOURED =
  /(?<comment>(?<=^|\s)(?:#|\/\/) .*$)|(?<text>"(?:[^"\\\n]|\\.)*"|'[^']*'|`[^`]*`)|(?<word>\b(?:const|let|import|from|export|await|async|function|return|if|else|for|of|in|new|throw|def|class|try|except|raise|with|curl)\b)/gm;

/** The parts of a text, each with the name of its colour, if it has one. */
export function coloured(text) {
  const parts = [];
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(COLOURED)) {
    const [name] = Object.entries(groups).find(([, part]) => part);
    parts.push([text.slice(end, index)], [found, name]);
    end = index + found.length;
  }
  return [...parts, [text.slice(end)]];
}

/** The language of all samples. */
let chosen = "curl";

const CHOSEN = "languagechosen";

/**
 * Shows one language of a sample at a time, the same in all that have it, and lets people
 * copy it.
 */
export function tabbed(sample) {
  const languages = Array.from(
    sample.querySelectorAll("pre"),
    ({ dataset }) => dataset.language,
  );
  const buttons = languages.map((language) =>
    buttonOf(language, () => {
      chosen = language;
      document.dispatchEvent(new Event(CHOSEN));
    })
  );
  const bar = make(
    "div",
    { className: "languages" },
    ...buttons,
    copyButton(sample),
  );

  function show() {
    const shown = languages.includes(chosen) ? chosen : languages[0];
    for (const button of buttons) {
      button.setAttribute("aria-pressed", button.textContent === shown);
    }
    for (const text of sample.querySelectorAll("pre")) {
      text.hidden = text.dataset.language !== shown;
    }
  }

  for (const pre of sample.querySelectorAll("pre:not(:has(span))")) {
    pre.replaceChildren(
      ...coloured(pre.textContent).map(([text, className]) =>
        className ? make("span", { className }, text) : text
      ),
    );
  }
  document.addEventListener(CHOSEN, show);
  sample.prepend(bar);
  show();
  return () => {
    document.removeEventListener(CHOSEN, show);
    bar.remove();
  };
}

function copyButton(sample) {
  const button = buttonOf("Copy", async () => {
    const { textContent } = sample.querySelector("pre:not([hidden])");
    await navigator.clipboard.writeText(textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 1_500);
  });
  button.className = "copy";
  return button;
}

function buttonOf(textContent, onclick) {
  return make("button", { type: "button", textContent, onclick });
}
