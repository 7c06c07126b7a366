import { coloured, LANGUAGES, tabbed } from "./samples.js";

/* The operations of the OpenAPI document, shown by Swagger UI, each with samples. */

/** Headers that every operation takes. The page describes them once. */
const EVERYWHERE = ["Accept-Version", "X-Request-Id"];

/** The group that is shown, and the listeners that show another one. */
const group = { tag: undefined, listeners: new Set() };

/**
 * Shows the operations of one group. A try sends only the parameters that were set, and
 * the credentials. `onOpened` hears of an operation that was opened by hand. Resolves,
 * once they are ready, to the function that opens a group, or one of its operations.
 */
export async function showOperations(description, { credentials, onOpened }) {
  const shown = Promise.withResolvers();
  const ui = SwaggerUIBundle({
    spec: withoutRepetition(description),
    domNode: document.getElementById("reference"),
    layout: "CatalogueOperations",
    plugins: [
      operationsAlone,
      oneGroup,
      addressed(onOpened),
      labelled,
      sampled,
    ],
    onComplete: () => shown.resolve(),
    tryItOutEnabled: true,
    defaultModelExpandDepth: 0,
    syntaxHighlight: false,
    // The validator is on another host.
    validatorUrl: null,
    requestInterceptor(request) {
      Object.assign(request.headers, credentials());
      return request;
    },
  });
  function open(tag, operationId) {
    group.tag = tag;
    for (const listener of group.listeners) listener();
    if (!operationId) return scrollTo(0, 0);
    ui.layoutActions.show(["operations", tag, operationId], true);
    const id = `operations-${tag.replaceAll(" ", "_")}-${operationId}`;
    // Swagger UI renders the group first.
    setTimeout(() => {
      const block = document.getElementById(id);
      block?.scrollIntoView();
      block?.querySelector(".opblock-summary-control")
        ?.focus({ preventScroll: true });
    });
  }

  await shown.promise;
  return open;
}

/**
 * The description without what the page says elsewhere: the headers of every request and
 * response, the bodies of errors, and credentials. Values of parameters become placeholders, since
 * Swagger UI would send them.
 */
function withoutRepetition(description) {
  const copy = structuredClone(description);
  const shared = copy.components.parameters;
  Object.values(shared).forEach(showPlaceholder);
  delete copy.security;
  for (const { parameters = [], ...operations } of Object.values(copy.paths)) {
    // The parameters of the path come first.
    for (const operation of Object.values(operations)) {
      operation.parameters?.unshift(...parameters);
    }
  }
  for (const item of Object.values(copy.paths)) delete item.parameters;
  const operations = Object.values(copy.paths).flatMap(Object.values)
    .filter(({ operationId }) => operationId);
  const common = operations.map(({ responses }) => headersOf(responses))
    .reduce((common, names) => common.intersection(names));
  for (const operation of operations) {
    delete operation.security;
    operation.parameters = operation.parameters
      ?.filter(({ $ref, name = $ref?.split("/").at(-1) }) => !EVERYWHERE.includes(name));
    operation.parameters?.forEach(showPlaceholder);
    removeHeaders(operation, common);
    for (const [status, response] of Object.entries(operation.responses)) {
      const name = response.$ref?.split("/").at(-1);
      if (Number(status) < 400 || !name) continue;
      const { description } = copy.components.responses[name];
      operation.responses[status] = { description };
    }
  }
  return copy;
}

/** The names of the headers of the successful responses. */
function headersOf(responses) {
  return new Set(
    Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
  );
}

function removeHeaders({ responses }, names) {
  for (const { headers = {} } of Object.values(responses)) {
    for (const name of names) delete headers[name];
  }
}

function showPlaceholder(parameter) {
  const { schema } = parameter;
  if (!schema) return;
  const value = exampleOf(parameter);
  if (schema.default !== undefined) {
    parameter.description += ` The default is \`${schema.default}\`.`;
  }
  schema["x-placeholder"] = value === undefined ? "" : `such as ${value}`;
  schema["x-example"] = value;
  for (const name of ["example", "examples", "default"]) {
    delete schema[name];
    delete parameter[name];
  }
}

function exampleOf({ example, examples, schema }) {
  const [named] = Object.values(examples ?? {});
  return example ?? named?.value ?? schema.example ?? schema.examples?.[0];
}

/** The page has its own title, navigation and credentials. */
function operationsAlone({ React, getComponent }) {
  return {
    components: {
      CatalogueOperations: () =>
        React.createElement(
          "div",
          { className: "swagger-ui" },
          React.createElement(getComponent("operations", true)),
        ),
      // It would show credentials.
      curl: () => null,
    },
  };
}

/** Shows one group at a time: its heading, and its operations, which are always unfolded. */
function oneGroup({ React }) {
  const subscribe = (listener) => {
    group.listeners.add(listener);
    return () => group.listeners.delete(listener);
  };

  function Group({ tag, tagObj, children }) {
    const shown = React.useSyncExternalStore(subscribe, () => group.tag);
    if (tag !== shown) return null;
    const text = tagObj.getIn(["tagDetails", "description"]);
    return React.createElement(
      React.Fragment,
      null,
      React.createElement("h2", null, tag),
      // What stands between backticks is code.
      React.createElement(
        "p",
        null,
        ...text.split("`").map((part, i) =>
          i % 2 === 1 ? React.createElement("code", null, part) : part
        ),
      ),
      children,
    );
  }

  return { components: { OperationTag: Group } };
}

/** Shows the address of an operation that is opened by hand. The page opens addresses itself. */
function addressed(onOpened) {
  const show = (original) => (thing, isShown) => {
    const [kind, tag, operationId] = thing;
    if (kind === "operations" && isShown) {
      const address = `#/${encodeURIComponent(tag)}/${operationId}`;
      history.replaceState(null, "", address);
      onOpened();
    }
    return original(thing, isShown);
  };
  return () => ({ statePlugins: { layout: { wrapActions: { show } } } });
}

/** Gives controls a name for screen readers, and those of parameters a placeholder. */
function labelled({ React }) {
  return {
    wrapComponents: {
      TextArea: (Area) => (props) =>
        React.createElement(Area, { "aria-label": "Request body", ...props }),
      ExamplesSelect: (Select) => (props) =>
        React.createElement(
          "label",
          null,
          React.createElement(Select, props),
        ),
      JsonSchemaForm: (Form) => (props) => {
        const { description: name, schema } = props;
        const placeholder = schema?.get?.("x-placeholder") ?? "";
        const form = React.createElement(Form, {
          ...props,
          description: placeholder,
        });
        const isOneControl = schema?.get?.("type") !== "array" ||
          schema.hasIn(["items", "enum"]);
        return isOneControl
          ? React.createElement(
            "label",
            null,
            React.createElement("span", { className: "unseen" }, name),
            form,
          )
          : form;
      },
    },
  };
}

/** Shows samples of the request that the form would send, before the responses. */
function sampled(system) {
  const { React } = system;

  function Sample({ path, method }) {
    const element = React.useRef(null);
    const read = () => JSON.stringify(requestOf(system, path, method));
    const [request, setRequest] = React.useState(read);
    React.useEffect(
      () => system.getStore().subscribe(() => setRequest(read())),
      [path, method],
    );
    React.useEffect(() => tabbed(element.current), []);
    return React.createElement(
      "div",
      { className: "sample", ref: element },
      Object.entries(LANGUAGES).map(([language, textOf]) =>
        React.createElement(
          "pre",
          { key: language, "data-language": language, tabIndex: 0 },
          ...coloured(textOf(JSON.parse(request))).map(([text, className]) =>
            className ? React.createElement("span", { className }, text) : text
          ),
        )
      ),
    );
  }

  return {
    wrapComponents: {
      responses: (Responses) => (props) =>
        React.createElement(
          React.Fragment,
          null,
          React.createElement(Sample, props),
          React.createElement(Responses, props),
        ),
    },
  };
}

/** The request that the form of an operation would send. Missing path parameters have their examples. */
function requestOf({ getSystem }, path, method) {
  const { specSelectors, oas3Selectors } = getSystem();
  const operation = specSelectors.specJson().getIn(["paths", path, method]);
  const parameters = specSelectors.operationWithMeta(path, method)
    .get("parameters");
  const values = parameters.toJS().map((parameter) => ({
    ...parameter,
    value: valueOf(parameter),
  })).filter(({ value }) => value !== undefined);
  const set = (place) =>
    values.filter((parameter) => parameter.in === place)
      .map(({ name, value }) => [name, value]);
  const pathParameters = set("path");
  const isOfSession = operation.get("tags").includes("API keys");
  const isOpen = operation.get("security")?.size === 0;
  const body = oas3Selectors.requestBodyValue(path, method) ?? "";
  return {
    method: method.toUpperCase(),
    path,
    url: pathParameters.reduce(
      (url, [name, value]) => url.replace(`{${name}}`, encodeURIComponent(value)),
      path,
    ),
    pathParameters,
    query: set("query"),
    headers: set("header"),
    ...body instanceof File
      ? {
        file: body.name,
        type: oas3Selectors.requestContentType(path, method),
      }
      : { body },
    caller: isOpen ? "nobody" : isOfSession ? "session" : "key",
  };
}

function valueOf({ in: place, value, schema }) {
  if (Array.isArray(value)) return value.length > 0 ? value.join() : undefined;
  if (value !== undefined && value !== "") return value;
  return place === "path" ? schema?.["x-example"] : undefined;
}
