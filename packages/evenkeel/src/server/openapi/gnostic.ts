/**
 * An OpenAPI v2 document as gnostic protobuf, driven by tables of messages.
 *
 * Values without a message type (defaults, extensions) are encoded as YAML text, in the block style of upstream. Keys
 * without a field are dropped: the tables cover every key that the server writes.
 */
import { getOwn, type JsonArray, type JsonObject, type JsonValue } from '#api'
import { writeYaml } from '#wire'

export function encodeDocumentV2(document: JsonObject): Uint8Array {
  const writer = new ByteWriter()
  writeFields(writer, 'document', document)
  return writer.bytes()
}

function writeFields(writer: ByteWriter, name: MessageName, value: JsonObject): void {
  const { fields, extensions } = messages[name]
  for (const key of Object.keys(value)) {
    const child = value[key]
    if (child === undefined) continue
    const field = getOwn(fields, key)
    if (field) writeField(writer, field, child)
    else if (extensions !== undefined && key.startsWith('x-'))
      writeNamed(writer, extensions, { key, write: () => writeAny(writer, 2, child) })
  }
}

function writeField(writer: ByteWriter, [tag, type]: readonly [number, FieldType], value: JsonValue): void {
  const scalar = scalars[type]
  if (scalar) scalar(writer, tag, value)
  else if (type.startsWith('[')) writeList(writer, [tag, type.slice(1, -1) as FieldType], value as JsonArray)
  else if (type.startsWith('{'))
    writer.message(tag, () => writeMap(writer, [1, type.slice(1, -1) as MessageName], value as JsonObject))
  else if (type === 'paths') writer.message(tag, () => writeMap(writer, [2, 'pathItem'], value as JsonObject))
  else writer.message(tag, () => writeFields(writer, type as MessageName, value as JsonObject))
}

type Write = (writer: ByteWriter, tag: number, value: JsonValue) => void

/** Encoders of values without a table of keys. */
const scalars: Readonly<Partial<Record<FieldType, Write>>> = {
  any: writeAny,
  bool: (writer, tag, value) => {
    if (value === true) writer.integer(tag, 1)
  },
  double: (writer, tag, value) => {
    if (value !== 0) writer.double(tag, value as number)
  },
  integer: (writer, tag, value) => {
    if (value !== 0) writer.integer(tag, value as number)
  },
  string: (writer, tag, value) => {
    if (value !== '') writer.string(tag, value as string)
  },
  additional: (writer, tag, value) =>
    writer.message(tag, () => {
      if (typeof value === 'boolean') scalars.bool?.(writer, 2, value)
      else writer.message(1, () => writeFields(writer, 'schema', value as JsonObject))
    }),
  items: (writer, tag, value) =>
    writer.message(tag, () => writer.message(1, () => writeFields(writer, 'schema', value as JsonObject))),
  type: (writer, tag, value) => writer.message(tag, () => writer.string(1, value as string)),
  schemaItem: (writer, tag, value) =>
    writer.message(tag, () => writer.message(1, () => writeFields(writer, 'schema', value as JsonObject))),
  parameters: (writer, tag, value) => {
    for (const one of value as readonly JsonObject[])
      writer.message(tag, () => {
        if (one['$ref'] === undefined) writer.message(1, () => writeParameter(writer, one))
        else writer.message(2, () => writer.string(1, one['$ref'] as string))
      })
  },
  parameterDefinitions: (writer, tag, value) =>
    writer.message(tag, () => {
      for (const [key, one] of Object.entries(value as JsonObject))
        writeNamed(writer, 1, {
          key,
          write: () => writer.message(2, () => writeParameter(writer, one as JsonObject)),
        })
    }),
  responses: (writer, tag, value) =>
    writer.message(tag, () => {
      for (const [key, one] of Object.entries(value as JsonObject)) {
        writeNamed(writer, 1, {
          key,
          write: () =>
            writer.message(2, () => writer.message(1, () => writeFields(writer, 'response', one as JsonObject))),
        })
      }
    }),
  securityItems: (writer, tag, value) =>
    writer.message(tag, () => {
      for (const [key, one] of Object.entries(value as JsonObject)) {
        writeNamed(writer, 1, {
          key,
          write: () =>
            writer.message(2, () => writer.message(2, () => writeFields(writer, 'apiKey', one as JsonObject))),
        })
      }
    }),
  security: (writer, tag, value) => {
    for (const one of value as readonly JsonObject[]) {
      writer.message(tag, () => {
        for (const key of Object.keys(one)) writeNamed(writer, 1, { key, write: () => writer.message(2, () => {}) })
      })
    }
  },
}

function writeParameter(writer: ByteWriter, parameter: JsonObject): void {
  if (parameter['in'] === 'body') writer.message(1, () => writeFields(writer, 'bodyParameter', parameter))
  else if (parameter['in'] === 'query')
    writer.message(2, () => writer.message(3, () => writeFields(writer, 'queryParameter', parameter)))
  else writer.message(2, () => writer.message(4, () => writeFields(writer, 'pathParameter', parameter)))
}

function writeList(writer: ByteWriter, [tag, type]: readonly [number, FieldType], values: JsonArray): void {
  // In a list an empty text is a value, so it is not omitted.
  for (const value of values) {
    if (type === 'string') writer.string(tag, value as string)
    else writeField(writer, [tag, type], value)
  }
}

function writeMap(writer: ByteWriter, [tag, name]: readonly [number, MessageName], values: JsonObject): void {
  for (const [key, value] of Object.entries(values)) {
    writeNamed(writer, tag, {
      key,
      write: () => writer.message(2, () => writeFields(writer, name, value as JsonObject)),
    })
  }
}

function writeNamed(writer: ByteWriter, tag: number, { key, write }: { key: string; write(): void }): void {
  writer.message(tag, () => {
    writer.string(1, key)
    write()
  })
}

function writeAny(writer: ByteWriter, tag: number, value: JsonValue): void {
  writer.message(tag, () => writer.string(2, writeYaml(value)))
}

/**
 * The messages of gnostic's OpenAPI v2 as tables: JSON key to field number and type.
 *
 * Only the part that a document about Kubernetes resources uses. A type in brackets is repeated; one in braces is a
 * map, which is a message with one repeated field of name and value.
 */
type FieldType =
  | 'any'
  | 'bool'
  | 'double'
  | 'integer'
  | 'string'
  | '[any]'
  | '[string]'
  | 'additional'
  | 'items'
  | 'parameterDefinitions'
  | 'parameters'
  | 'responses'
  | 'schemaItem'
  | 'security'
  | 'securityItems'
  | 'type'
  | MessageName
  | `[${MessageName}]`
  | `{${MessageName}}`

type MessageName = keyof typeof tables

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
      parameters: [10, 'parameterDefinitions'],
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
      description: [3, 'string'],
      operationId: [5, 'string'],
      produces: [6, '[string]'],
      consumes: [7, '[string]'],
      parameters: [8, 'parameters'],
      responses: [9, 'responses'],
      schemes: [10, '[string]'],
    },
    extensions: 13,
  },
  response: { fields: { description: [1, 'string'], schema: [2, 'schemaItem'] }, extensions: 5 },
  bodyParameter: {
    fields: {
      description: [1, 'string'],
      name: [2, 'string'],
      in: [3, 'string'],
      required: [4, 'bool'],
      schema: [5, 'schema'],
    },
    extensions: 6,
  },
  queryParameter: {
    fields: {
      required: [1, 'bool'],
      in: [2, 'string'],
      description: [3, 'string'],
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
      description: [3, 'string'],
      name: [4, 'string'],
      type: [5, 'string'],
      uniqueItems: [19, 'bool'],
    },
    extensions: 22,
  },
  apiKey: {
    fields: { type: [1, 'string'], name: [2, 'string'], in: [3, 'string'], description: [4, 'string'] },
    extensions: 5,
  },
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

const messages: Readonly<Record<MessageName, GnosticMessage>> = tables

/**
 * Protocol buffer fields into a growing buffer.
 *
 * A nested message is written first and moved by the few bytes that its length takes: its length is known only then.
 */
class ByteWriter {
  #buffer = Buffer.alloc(1 << 16)
  #length = 0

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  string(tag: number, text: string): void {
    const length = Buffer.byteLength(text)
    this.#varint((tag << 3) | 2)
    this.#varint(length)
    this.#reserve(length)
    this.#length += this.#buffer.write(text, this.#length)
  }

  /** Any integer that a schema's limit may be; negative ones take ten bytes. */
  integer(tag: number, value: number): void {
    this.#varint(tag << 3)
    if (value >= 0 && Number.isSafeInteger(value)) return this.#varint(value)
    let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)))
    while (rest > 0x7fn) {
      this.#byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.#byte(Number(rest))
  }

  double(tag: number, value: number): void {
    this.#varint((tag << 3) | 1)
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  /** A message whose fields `write` writes. */
  message(tag: number, write: () => void): void {
    this.#varint((tag << 3) | 2)
    const start = this.#length
    write()
    const length = this.#length - start
    const size = varintSize(length)
    this.#reserve(size)
    this.#buffer.copyWithin(start + size, start, this.#length)
    this.#length = start
    this.#varint(length)
    this.#length += length
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#byte((rest % 128) | 0x80)
      rest = Math.floor(rest / 128)
    }
    this.#byte(rest)
  }

  #byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return
    const larger = Buffer.alloc(Math.max(this.#buffer.length * 2, this.#length + size))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++
  return size
}
