// Shows a JSON Schema as a tree. Renders only the expanded levels, because schemas can be recursive.
import type { JsonSchema } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { InlineMarkdown } from "../components/inline-markdown";
import {
  type Alternatives,
  type Definitions,
  type FlatSchema,
  informativeAlternatives,
  flatten,
  describeAlternatives,
  describeType,
  getNestedSchema,
  isConditional,
  getPatternProperties,
  allowedValues,
  formatValue,
} from "./schema";

const MAX_SHOWN_VALUES = 12;

/** A schema with its first level expanded. */
export function Schema({ schema, definitions }: { schema: JsonSchema; definitions: Definitions }) {
  const flat = flatten(schema, definitions);
  const nested = getNestedSchema(flat, definitions);
  return (
    <div class="schema">
      <p>
        <span class="type">{describeType(schema, definitions)}</span>
      </p>
      <SchemaKeywords flat={flat} />
      {nested && <Content flat={nested.flat} isItem={nested.isItem} definitions={definitions} />}
    </div>
  );
}

/** The keywords of a schema: description, default, examples, pattern. */
export function SchemaKeywords({ flat }: { flat: FlatSchema }) {
  const { description, default: defaultValue, examples, pattern } = flat.keywords;
  const values = allowedValues(flat);
  return (
    <>
      {description && (
        <p class="muted">
          <InlineMarkdown text={description} />
        </p>
      )}
      {values && <Values values={values} />}
      {defaultValue !== undefined && (
        <p class="small">
          Default: <code>{formatValue(defaultValue)}</code>
        </p>
      )}
      {values === undefined && examples && examples.length > 0 && (
        <p class="small">
          Example: <code>{formatValue(examples[0])}</code>
        </p>
      )}
      {pattern && (
        <p class="small">
          Pattern: <code>{pattern}</code>
        </p>
      )}
    </>
  );
}

function Values({ values }: { values: unknown[] }) {
  const [isOpen, setOpen] = useState(false);
  const visibleValues = isOpen ? values : values.slice(0, MAX_SHOWN_VALUES);
  return (
    <p class="small values">
      {values.length === 1 ? "Always" : "One of"}{" "}
      {visibleValues.map((value, index) => (
        <span key={index}>
          <code>{formatValue(value)}</code>{" "}
        </span>
      ))}
      {visibleValues.length < values.length && (
        <button type="button" class="link" onClick={() => setOpen(true)}>
          and {(values.length - visibleValues.length).toLocaleString("en")} more
        </button>
      )}
    </p>
  );
}

interface ContentProps {
  flat: FlatSchema;
  isItem: boolean;
  /** A title that is already visible above and must not be repeated. */
  shownTitle?: string;
  definitions: Definitions;
}

/** The next level of a schema: its properties, alternatives, items or members. */
function Content({ flat, isItem, shownTitle, definitions }: ContentProps) {
  const { properties, required, keywords } = flat;
  const { items, prefixItems, additionalProperties } = keywords;
  const sortedProperties = [...properties].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const choices = informativeAlternatives(flat, definitions);
  const hasListedProperties = sortedProperties.length + getPatternProperties(flat).length > 0;
  const hasMembers = typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0;
  return (
    <div class="schema">
      {isItem && (
        <>
          <p class="small muted">Each item:</p>
          <SchemaKeywords flat={flat} />
        </>
      )}
      {(hasListedProperties || hasMembers) && (
        <ul class="properties">
          {sortedProperties.map(([name, property]) => (
            <PropertyItem
              key={name}
              name={<code class="property-name">{name}</code>}
              accessibleName={name}
              schema={property}
              isRequired={required.has(name)}
              definitions={definitions}
            />
          ))}
          {getPatternProperties(flat).map(([pattern, property]) => (
            <PropertyItem
              key={pattern}
              name={
                <span>
                  names that match <code>{pattern}</code>
                </span>
              }
              accessibleName={pattern}
              schema={property}
              definitions={definitions}
            />
          ))}
          {hasMembers && (
            <PropertyItem
              name={<span>{hasListedProperties ? "other properties" : "any property"}</span>}
              accessibleName="any property"
              schema={additionalProperties}
              definitions={definitions}
            />
          )}
        </ul>
      )}
      {choices.map((choice, index) => (
        <AlternativeList
          key={index}
          choice={choice}
          isTitled={describeAlternatives(choice) !== shownTitle}
          definitions={definitions}
        />
      ))}
      {(prefixItems || (isItem && typeof items === "object")) && (
        <ul class="properties">
          {prefixItems?.map((schema, index) => (
            <PropertyItem
              key={index}
              name={<span>item {index + 1}</span>}
              accessibleName={`item ${index + 1}`}
              schema={schema}
              definitions={definitions}
            />
          ))}
          {typeof items === "object" && (
            <PropertyItem
              name={<span>{prefixItems ? "other items" : "each item"}</span>}
              accessibleName="each item"
              schema={items}
              definitions={definitions}
            />
          )}
        </ul>
      )}
      {isConditional(flat) && <p class="small muted">The schema has further conditions, which are not shown here.</p>}
    </div>
  );
}

interface AlternativeListProps {
  choice: Alternatives;
  isTitled: boolean;
  definitions: Definitions;
}

function AlternativeList({ choice: { isExclusive, schemas }, isTitled, definitions }: AlternativeListProps) {
  return (
    <>
      {isTitled && <p class="small muted">{isExclusive ? "One of:" : "At least one of:"}</p>}
      <ul class="properties">
        {schemas.map((schema, index) => {
          const { name, keywords } = flatten(schema, definitions);
          const title = keywords.title ?? name;
          return (
            <PropertyItem
              key={index}
              name={<span class="property-name">{title ?? `variant ${index + 1}`}</span>}
              accessibleName={title ?? `variant ${index + 1}`}
              schema={schema}
              definitions={definitions}
            />
          );
        })}
      </ul>
    </>
  );
}

interface PropertyItemProps {
  name: ComponentChildren;
  /** Name of the element for screen readers. */
  accessibleName: string;
  schema: JsonSchema;
  isRequired?: boolean;
  definitions: Definitions;
}

function PropertyItem({ name, accessibleName, schema, isRequired = false, definitions }: PropertyItemProps) {
  const flat = flatten(schema, definitions);
  const { deprecated, readOnly, writeOnly } = flat.keywords;
  return (
    <li class="property">
      <p class="property-head">
        {name} <span class="type">{describeType(schema, definitions)}</span>
        {isRequired && <RequiredBadge />}
        {deprecated && (
          <span class="badge" data-tone="warn">
            deprecated
          </span>
        )}
        {readOnly && <span class="badge">read-only</span>}
        {writeOnly && <span class="badge">write-only</span>}
      </p>
      <SchemaKeywords flat={flat} />
      <SchemaDetails flat={flat} owner={accessibleName} definitions={definitions} />
    </li>
  );
}

export const RequiredBadge = () => (
  <span class="badge" data-tone="info">
    required
  </span>
);

/** The next level of a schema, collapsed until the user opens it. */
export function SchemaDetails({
  flat,
  owner,
  definitions,
}: {
  flat: FlatSchema;
  owner: string;
  definitions: Definitions;
}) {
  const [isOpen, setOpen] = useState(false);
  const nested = getNestedSchema(flat, definitions);
  if (!nested) return null;
  return (
    <details class="more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {nested.title.charAt(0).toUpperCase() + nested.title.slice(1)}
        <span class="visually-hidden"> of {owner}</span>
        {nested.flat.name && <code class="muted">{nested.flat.name}</code>}
      </summary>
      {isOpen && (
        <Content flat={nested.flat} isItem={nested.isItem} shownTitle={nested.title} definitions={definitions} />
      )}
    </details>
  );
}
