// Executes requests against a platform's GraphQL schema with graphql-js. Each field resolves to a sample value of its type.
import {
  GraphQLID,
  GraphQLInt,
  GraphQLBoolean,
  GraphQLFloat,
  buildClientSchema,
  buildSchema,
  execute,
  isAbstractType,
  isEnumType,
  isListType,
  isLeafType,
  isNonNullType,
  parse,
  validate,
} from "graphql";

const SAMPLES = new Map([
  [GraphQLID.name, "1"],
  [GraphQLInt.name, 1],
  [GraphQLFloat.name, 1.5],
  [GraphQLBoolean.name, true],
]);

/** Creates a sample value of a type. */
function sample(type, schema) {
  if (isNonNullType(type)) return sample(type.ofType, schema);
  if (isListType(type)) return [sample(type.ofType, schema)];
  if (isEnumType(type)) return type.getValues()[0].value;
  if (isLeafType(type)) return SAMPLES.get(type.name) ?? "text";
  return isAbstractType(type) ? { __typename: schema.getPossibleTypes(type)[0].name } : {};
}

export class GraphqlApi {
  /** @param {string} text the definition language, or the JSON of an introspection query */
  constructor(text) {
    if (text.startsWith("{")) {
      const introspection = JSON.parse(text);
      this.schema = buildClientSchema(introspection.data ?? introspection, { assumeValid: true });
    } else {
      this.schema = buildSchema(text, { assumeValid: true });
    }
  }

  /** The response to the body of a request. */
  async response(body) {
    const { query, variables } = JSON.parse(body);
    const { schema } = this;
    let document;
    try {
      document = parse(query);
    } catch (error) {
      return { errors: [{ message: error.message }] };
    }
    const faults = validate(schema, document);
    if (faults.length > 0) return { errors: faults.map(({ message }) => ({ message })) };
    return execute({
      schema,
      document,
      variableValues: variables,
      rootValue: {},
      fieldResolver: (_source, _arguments, _context, { returnType }) => sample(returnType, schema),
      typeResolver: (value) => value.__typename,
    });
  }
}
