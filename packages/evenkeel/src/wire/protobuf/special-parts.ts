/**
 * Messages whose JSON is not an object with their fields: what they are made of on the wire.
 *
 * Written as the generated text is. `view` is bytes that are not copied and not turned into base64.
 */
export const specialParts = {
  time: 'seconds=1int64 nanos=2int32',
  microTime: 'seconds=1int64 nanos=2int32',
  quantity: 'string=1*string',
  intOrString: 'type=1int64 intVal=2int32 strVal=3string',
  /** A JSON text inside: raw extensions, field sets, defaults and examples of schemas. */
  json: 'raw=1*view',
  /** A list of texts that has a type of its own, so that the wire can tell empty from absent. */
  texts: 'items=1[]string',
  schemaOrBool: 'allows=1bool schema=2*JSONSchemaProps',
  schemaOrList: 'schema=1*JSONSchemaProps jSONSchemas=2[]JSONSchemaProps',
  schemaOrTexts: 'schema=1*JSONSchemaProps property=2[]string',
} as const
