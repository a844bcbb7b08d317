/**
 * OpenAPI of other servers within that of this one.
 *
 * The v3 index names the documents of aggregated group versions with the hash of their server, and requests for them are
 * forwarded. The v2 document is one for everything: paths of the group version are added, with the definitions that they
 * use. A definition that this server has with the same name and another content gets a suffix: `…Status_v2`.
 */
import { deepEqual, isJsonObject, setOwn, type JsonObject, type JsonObjectDraft, type JsonValue } from '#api'
import { encodeDocumentV2 } from './gnostic.ts'

/** The OpenAPI of a group version that another server serves. */
export interface RemoteOpenApi {
  readonly group: string
  readonly version: string
  /** The hash of the v3 document; undefined when there is none. */
  readonly openApiHash: string | undefined
  /** The v2 document of that server. */
  readonly swagger: JsonObject | undefined
}

/** The entries of other servers in the v3 index. */
export function remoteIndex(remote: readonly RemoteOpenApi[]): [string, { readonly serverRelativeURL: string }][] {
  return remote.flatMap(({ group, version, openApiHash: hash }) => {
    if (hash === undefined) return []
    const path = `apis/${group}/${version}`
    return [[path, { serverRelativeURL: `/openapi/v3/${path}${hash === '' ? '' : `?hash=${hash}`}` }]]
  })
}

/** The v2 document with the paths and definitions of other servers. */
export function withRemotePaths(local: JsonObject, remote: readonly RemoteOpenApi[]): JsonObject {
  const paths: JsonObjectDraft = { ...fieldsOf(local['paths']) }
  const definitions: JsonObjectDraft = { ...fieldsOf(local['definitions']) }
  for (const { group, version, swagger } of remote) {
    if (!swagger) continue
    const prefix = `/apis/${group}/${version}/`
    const mine = Object.entries(fieldsOf(swagger['paths'])).filter(([path]) => path.startsWith(prefix))
    const theirs = fieldsOf(swagger['definitions'])
    const used = usedDefinitions(
      mine.map(([, value]) => value),
      theirs,
    )
    const names = new Map([...used].map((name) => [name, freeName(name, theirs[name] as JsonValue, definitions)]))
    for (const [name, renamed] of names) setOwn(definitions, renamed, renameRefs(theirs[name] as JsonValue, names))
    for (const [path, value] of mine) setOwn(paths, path, renameRefs(value as JsonValue, names))
  }
  return { ...local, paths, definitions }
}

/** The merged v2 document as protobuf. Paths of another server may have any form: if they cannot be encoded, the local ones are. */
export function encodeMerged(content: JsonObject, local: () => JsonObject): Uint8Array {
  try {
    return encodeDocumentV2(content)
  } catch {
    return encodeDocumentV2(local())
  }
}

const refPrefix = '#/definitions/'

/** Names of all definitions that values refer to, directly or not. */
function usedDefinitions(values: readonly unknown[], definitions: JsonObject): Set<string> {
  const used = new Set<string>()
  const waiting = values.slice()
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue
    for (const [key, child] of Object.entries(value)) {
      const name = key === '$ref' && typeof child === 'string' ? child.slice(refPrefix.length) : undefined
      if (name !== undefined && !used.has(name) && Object.hasOwn(definitions, name)) {
        used.add(name)
        waiting.push(definitions[name])
      } else if (typeof child === 'object' && child !== null) waiting.push(child)
    }
  }
  return used
}

function freeName(name: string, content: JsonValue, definitions: JsonObject): string {
  let candidate = name
  for (let number = 2; Object.hasOwn(definitions, candidate); number++) {
    if (deepEqual(definitions[candidate], content)) break
    candidate = `${name}_v${number}`
  }
  return candidate
}

/** A copy whose references use the new names. */
function renameRefs(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => renameRefs(item, names))
  if (!isJsonObject(value)) return value
  const copy: JsonObjectDraft = {}
  for (const [key, child] of Object.entries(value)) {
    const name = key === '$ref' && typeof child === 'string' ? names.get(child.slice(refPrefix.length)) : undefined
    setOwn(copy, key, name === undefined ? renameRefs(child as JsonValue, names) : `${refPrefix}${name}`)
  }
  return copy
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value as JsonValue) ? (value as JsonObject) : {}
}
