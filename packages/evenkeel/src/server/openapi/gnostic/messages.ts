/**
 * The messages of gnostic's OpenAPI v2 as tables: JSON key to field number and type.
 *
 * Only the part that a document about Kubernetes resources uses. A type in brackets is repeated; one in braces is a
 * map, which is a message with one repeated field of name and value.
 */
export type FieldType =
  | 'any'
  | 'bool'
  | 'double'
  | 'integer'
  | 'string'
  | '[any]'
  | '[string]'
  | 'additional'
  | 'items'
  | 'parameters'
  | 'responses'
  | 'schemaItem'
  | 'security'
  | 'securityItems'
  | 'type'
  | MessageName
  | `[${MessageName}]`
  | `{${MessageName}}`

export type MessageName = keyof typeof tables

interface GnosticMessage {
  readonly fields: Readonly<Record<string, readonly [tag: number, type: FieldType]>>
  /** Where keys that begin with `x-` go. */
  readonly extensions?: number
}

const tables = {
  document: {
    fields: {
      swagger: [1, 'string'],
      info: [2, 'info'],
      paths: [8, 'paths'],
      definitions: [9, '{schema}'],
      security: [12, 'security'],
      securityDefinitions: [13, 'securityItems'],
    },
    extensions: 16,
  },
  info: { fields: { title: [1, 'string'], version: [2, 'string'], description: [3, 'string'] }, extensions: 7 },
  paths: { fields: {} },
  pathItem: {
    fields: {
      get: [2, 'operation'],
      put: [3, 'operation'],
      post: [4, 'operation'],
      delete: [5, 'operation'],
      options: [6, 'operation'],
      head: [7, 'operation'],
      patch: [8, 'operation'],
      parameters: [9, 'parameters'],
    },
    extensions: 10,
  },
  operation: {
    fields: {
      tags: [1, '[string]'],
      operationId: [5, 'string'],
      produces: [6, '[string]'],
      consumes: [7, '[string]'],
      parameters: [8, 'parameters'],
      responses: [9, 'responses'],
    },
    extensions: 13,
  },
  response: { fields: { description: [1, 'string'], schema: [2, 'schemaItem'] }, extensions: 5 },
  bodyParameter: {
    fields: { name: [2, 'string'], in: [3, 'string'], required: [4, 'bool'], schema: [5, 'schema'] },
    extensions: 6,
  },
  queryParameter: {
    fields: {
      required: [1, 'bool'],
      in: [2, 'string'],
      name: [4, 'string'],
      type: [6, 'string'],
      uniqueItems: [20, 'bool'],
    },
    extensions: 23,
  },
  pathParameter: {
    fields: {
      required: [1, 'bool'],
      in: [2, 'string'],
      name: [4, 'string'],
      type: [5, 'string'],
      uniqueItems: [19, 'bool'],
    },
    extensions: 22,
  },
  apiKey: { fields: { type: [1, 'string'], name: [2, 'string'], in: [3, 'string'] }, extensions: 5 },
  schema: {
    fields: {
      $ref: [1, 'string'],
      format: [2, 'string'],
      title: [3, 'string'],
      description: [4, 'string'],
      default: [5, 'any'],
      multipleOf: [6, 'double'],
      maximum: [7, 'double'],
      exclusiveMaximum: [8, 'bool'],
      minimum: [9, 'double'],
      exclusiveMinimum: [10, 'bool'],
      maxLength: [11, 'integer'],
      minLength: [12, 'integer'],
      pattern: [13, 'string'],
      maxItems: [14, 'integer'],
      minItems: [15, 'integer'],
      uniqueItems: [16, 'bool'],
      maxProperties: [17, 'integer'],
      minProperties: [18, 'integer'],
      required: [19, '[string]'],
      enum: [20, '[any]'],
      additionalProperties: [21, 'additional'],
      type: [22, 'type'],
      items: [23, 'items'],
      allOf: [24, '[schema]'],
      properties: [25, '{schema}'],
      readOnly: [27, 'bool'],
      example: [30, 'any'],
    },
    extensions: 31,
  },
} as const

export const messages: Readonly<Record<MessageName, GnosticMessage>> = tables
