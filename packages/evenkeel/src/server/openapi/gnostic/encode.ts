/**
 * An OpenAPI v2 document as gnostic protobuf.
 *
 * Driven by the tables of messages.ts. Values that the message set does not describe (defaults, extensions) travel as
 * YAML text, for which JSON text will do. Keys without a field are left out: the tables know all that we write.
 */
import { getOwn, type JsonArray, type JsonObject, type JsonValue } from '#api'
import { ByteWriter } from './byte-writer.ts'
import { messages, type FieldType, type MessageName } from './messages.ts'

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

/** How values are written whose message is not a table of keys. */
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
      writer.message(tag, () => writer.message(1, () => writeParameter(writer, one)))
  },
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
  // In a list an empty text counts, so it is not left out as it would be alone.
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
  writer.message(tag, () => writer.string(2, `${JSON.stringify(value)}\n`))
}
