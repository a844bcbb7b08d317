/**
 * Bodies as the audit log shows them: as JSON, whatever format they came in.
 *
 * What cannot be read, and what is too large to be worth it, is left out.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'
import { decodeProtobuf, formatOfBody, readJson, readYaml } from '#wire'

/** A list of all there is does not belong into a log. */
const shownBytesMax = 1024 * 1024

/** The object in a body, or the list of steps of a JSON patch; undefined when it cannot be shown. */
export async function documentOf(bytes: Uint8Array, contentType: string | undefined): Promise<JsonObject | undefined> {
  if (bytes.byteLength === 0 || bytes.byteLength > shownBytesMax) return undefined
  try {
    const value = await parseDocument(bytes, contentType ?? '')
    return isJsonObject(value) || Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

async function parseDocument(bytes: Uint8Array, contentType: string): Promise<JsonValue> {
  const format = formatOfBody(contentType)
  if (format === 'protobuf') return decodeProtobuf(bytes)
  if (format === 'yaml' || /\+yaml\b/.test(contentType)) return (await readYaml(bytes)).value
  return readJson(bytes).value
}

/** What an object says about which one it is. */
export function nameIn({ metadata }: JsonObject): Readonly<Record<string, string>> {
  if (!isJsonObject(metadata)) return {}
  const known: Record<string, string> = {}
  for (const field of ['namespace', 'name', 'uid', 'resourceVersion'] as const) {
    const value = metadata[field]
    if (typeof value === 'string' && value !== '') known[field] = value
  }
  return known
}

/** An object, or each of a list, without who manages its fields. */
export function withoutManagers(object: JsonObject): JsonObject {
  if (Array.isArray(object)) return object
  const { metadata, items } = object
  return {
    ...object,
    ...(isJsonObject(metadata) && 'managedFields' in metadata && { metadata: withoutField(metadata, 'managedFields') }),
    ...(Array.isArray(items) && { items: items.map((item) => (isJsonObject(item) ? withoutManagers(item) : item)) }),
  }
}

function withoutField(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}
