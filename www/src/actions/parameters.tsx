import type { ActionParameter } from "connector-vault/slim";
import { type Definitions, flatten, describeType } from "./schema";
import { SchemaKeywords, SchemaDetails, RequiredBadge } from "./schema-view";

const LOCATIONS = [
  ["path", "In the path"],
  ["query", "In the query"],
  ["header", "In headers"],
  ["cookie", "In cookies"],
] as const;
const COLUMNS = ["Name", "Type", "Description"];

/** The parameters of an action, grouped by location. */
export function Parameters({ parameters, definitions }: { parameters: ActionParameter[]; definitions: Definitions }) {
  return (
    <section class="section" aria-labelledby="parameters">
      <h2 id="parameters">Parameters</h2>
      {parameters.length === 0 && <p class="muted">None.</p>}
      {LOCATIONS.map(([location, title]) => {
        const inLocation = parameters.filter((parameter) => parameter.in === location);
        if (inLocation.length === 0) return null;
        const sortedParameters = inLocation.sort((a, b) => Number(b.required) - Number(a.required));
        return (
          <div key={location} class="table parameters">
            <table role="table">
              <caption>{title}</caption>
              <thead role="rowgroup">
                <tr role="row">
                  {COLUMNS.map((name) => (
                    <th key={name} scope="col" role="columnheader">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody role="rowgroup">
                {sortedParameters.map((parameter) => (
                  <Row key={parameter.name} parameter={parameter} definitions={definitions} />
                ))}
              </tbody>
            </table>
          </div>
        );
      })}
    </section>
  );
}

function Row({ parameter, definitions }: { parameter: ActionParameter; definitions: Definitions }) {
  const { name, required, schema, contentType } = parameter;
  const flat = flatten(schema, definitions);
  return (
    <tr role="row">
      <td role="cell">
        <code class="property-name">{name}</code> {required && <RequiredBadge />}
        {flat.keywords.deprecated && (
          <>
            {" "}
            <span class="badge" data-tone="warn">
              deprecated
            </span>
          </>
        )}
      </td>
      <td role="cell">
        <span class="type">{describeType(schema, definitions)}</span>
        {contentType && <span class="muted small">, as {contentType}</span>}
        <Serialization parameter={parameter} type={flat.keywords.type} />
      </td>
      <td role="cell">
        <div class="schema">
          <SchemaKeywords flat={flat} />
          <SchemaDetails flat={flat} owner={name} definitions={definitions} />
        </div>
      </td>
    </tr>
  );
}

/** Explains how an array is serialized, if it is not the default. */
function Serialization({
  parameter: { in: location, style, explode },
  type,
}: {
  parameter: ActionParameter;
  type: unknown;
}) {
  if (type === "object" && style === "deepObject") return <p class="small muted">name[member]=value</p>;
  if (type !== "array" || location === "header" || location === "cookie") return null;
  const separator = { spaceDelimited: "spaces", pipeDelimited: "|" }[style] ?? "commas";
  const isRepeated = explode && location === "query";
  return <p class="small muted">{isRepeated ? "repeated for each item" : `items separated by ${separator}`}</p>;
}
