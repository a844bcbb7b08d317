/**
 * Hides the values of Secrets: a model, and the company that runs it, need not know them.
 *
 * Of every value only its length is shown. Worked example:
 *
 *     { kind: 'Secret', data: { word: 'aHVzaA==' } }  →  { kind: 'Secret', data: { word: '(masked: 4 bytes)' } }
 */
import { isJsonObject, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'

const start = '(masked'

/** `kubectl apply` keeps the whole manifest in this annotation. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

export function isSecret({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): boolean {
  return apiVersion === 'v1' && kind === 'Secret'
}

/** The object without its secret values; any object but a Secret stays as it is. */
export function maskSecret(object: JsonObject): JsonObject {
  if (!isSecret(object)) return object
  const { data, stringData, metadata } = object
  return {
    ...object,
    ...(isJsonObject(data) && { data: mapValues(data, (text) => lengthOf(Buffer.from(text, 'base64'))) }),
    ...(isJsonObject(stringData) && { stringData: mapValues(stringData, (text) => lengthOf(Buffer.from(text))) }),
    ...(isJsonObject(metadata) && { metadata: withoutManifest(metadata) }),
  }
}

/** Whether a manifest has a value that this program masked: to write it would destroy the secret. */
export function hasMask(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.startsWith(start)
  return isJsonObject(value) && Object.values(value).some((each) => hasMask(each))
}

/** A difference of two Secrets without its values: `data.word changed (masked)`. */
export function maskChange(change: string): string {
  const [path = ''] = change.split(' ')
  return /^(?:data|stringData|metadata\.annotations)(?:\.|$)/.test(path) ? `${path} changed ${start})` : change
}

function withoutManifest(metadata: JsonObject): JsonObject {
  const { annotations } = metadata
  if (!isJsonObject(annotations) || !(lastApplied in annotations)) return metadata
  return { ...metadata, annotations: { ...annotations, [lastApplied]: `${start})` } }
}

function lengthOf({ length }: Uint8Array): string {
  return `${start}: ${length} ${length === 1 ? 'byte' : 'bytes'})`
}

function mapValues(values: JsonObject, change: (text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(String(value))]))
}
