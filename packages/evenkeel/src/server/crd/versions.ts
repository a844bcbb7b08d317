/**
 * The versions of a CRD and the conversion between them.
 *
 * An object is read in three steps, as upstream does: it is pruned and defaulted by the version it is in, converted,
 * and pruned by the wanted version. Without a converter the second step is a new `apiVersion`, and all of it is one
 * synchronous call. Objects converted for a list or a watch are kept for the next one, as in the watch cache of
 * upstream; reads of one object and writes convert again. When the cache is full the oldest are dropped.
 */
import {
  defaultCustomObject,
  formatApiVersion,
  jsonSize,
  pruneCustomObject,
  toStructuralSchema,
  type JsonObject,
  type Schema,
  type UnstructuredObject,
  stringifyJson,
} from '#api'
import { assert } from '#base'
import type { StoredObjectReader } from '@evenkeel/builtins'
import { typeBytes } from '../storage/stored-object.ts'
import type { Conversion } from './conversion.ts'
import type { CrdVersion, CustomResourceDefinition } from './crd.ts'

/** How stored objects of a CRD are read. */
export class CrdVersions {
  readonly #group: string
  readonly #schemas: ReadonlyMap<string, Schema>
  readonly #conversion: Conversion | undefined
  readonly #converted = new ConvertedCache()
  readonly #type: Uint8Array | undefined

  constructor(
    {
      spec: {
        group,
        names: { kind },
        versions,
      },
    }: CustomResourceDefinition,
    conversion?: Conversion,
  ) {
    this.#group = group
    const stored = versions.find(({ storage }) => storage)
    if (stored && versions.length > 1) this.#type = typeBytes(this.#apiVersion(stored.name), kind)
    this.#schemas = new Map(versions.map((version) => [version.name, compiledSchema(version)]))
    this.#conversion = conversion
  }

  schemaOf(version: string): Schema | undefined {
    return this.#schemas.get(version)
  }

  /** @param since objects written after this revision conform to the current CRD. */
  reading(since: number): StoredObjectReader {
    return {
      since,
      ...(this.#type && { type: this.#type }),
      schemaOf: (version) => this.schemaOf(version),
      read: (object, version, { isTidy = false } = {}) =>
        this.#read(isTidy ? object : this.#tidy(object, version), version),
      ...(this.#conversion && { convert: this.#converter(this.#conversion) }),
    }
  }

  #read(tidy: UnstructuredObject, version: string): UnstructuredObject {
    const apiVersion = this.#apiVersion(version)
    if (tidy.apiVersion === apiVersion) return tidy
    assert(this.#conversion === undefined, 'an object of another version has to be converted first')
    return this.#prune({ ...tidy, apiVersion }, version)
  }

  #converter(convert: Conversion): NonNullable<StoredObjectReader['convert']> {
    return async (objects, version, { reuse = false, isTidy = false } = {}) => {
      const apiVersion = this.#apiVersion(version)
      const results = objects.map((object) =>
        object.apiVersion === apiVersion
          ? this.#tidy(object, version)
          : reuse
            ? this.#converted.get(keyOf(object, version))
            : undefined,
      )
      const missing = [...objects.entries()].filter(([index]) => results[index] === undefined)
      await Promise.all(
        bySource(missing).map(async (same) => {
          const made = await convert(
            same.map(([, object]) => (isTidy ? object : this.#tidy(object, version))),
            apiVersion,
          )
          for (const [at, [index, object]] of same.entries()) {
            const result = this.#prune(made[at] ?? {}, version)
            results[index] = result
            if (reuse) this.#converted.put(keyOf(object, version), result, jsonSize(result))
          }
        }),
      )
      return results as UnstructuredObject[]
    }
  }

  /** An object pruned and defaulted by its own version; a version that no longer exists counts as `otherwise`. */
  #tidy(object: UnstructuredObject, otherwise: string): UnstructuredObject {
    const given = versionOf(object)
    const version = this.#schemas.has(given) ? given : otherwise
    const schema = this.#schemas.get(version)
    if (schema === undefined) return object
    const pruned = this.#prune({ ...object, apiVersion: this.#apiVersion(version) }, version)
    return defaultCustomObject(pruned, schema.root) as UnstructuredObject
  }

  /** The metadata of a custom object is never pruned, so it stays an object with type and metadata. */
  #prune(object: JsonObject, version: string): UnstructuredObject {
    const schema = this.#schemas.get(version)
    return (schema === undefined ? object : pruneCustomObject(object, schema.root).object) as UnstructuredObject
  }

  #apiVersion(version: string): string {
    return formatApiVersion({ group: this.#group, version })
  }
}

/** By the schema text: servers in one process, as in simulations, share compiled schemas. */
const recentSchemas = new Map<string, Schema>()
const [recentMax, textMax] = [64, 65_536]

function compiledSchema({ schema }: CrdVersion): Schema {
  const given: JsonObject = (schema?.openAPIV3Schema as JsonObject | undefined) ?? {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  }
  const text = stringifyJson(given)
  const known = recentSchemas.get(text)
  if (known) return known
  const made: Schema = { root: toStructuralSchema(given), definitions: () => undefined }
  if (recentSchemas.size >= recentMax) recentSchemas.clear()
  if (text.length <= textMax) recentSchemas.set(text, made)
  return made
}

/** Objects grouped by version, because a converter is called once for each version. */
function bySource(
  objects: readonly (readonly [number, UnstructuredObject])[],
): (readonly [number, UnstructuredObject])[][] {
  const versions = new Set(objects.map(([, { apiVersion }]) => apiVersion))
  return [...versions].map((version) => objects.filter(([, { apiVersion }]) => apiVersion === version))
}

function versionOf({ apiVersion }: JsonObject): string {
  return typeof apiVersion === 'string' ? apiVersion.slice(apiVersion.indexOf('/') + 1) : ''
}

// A uid and a resource version identify the state of an object.
function keyOf({ metadata: { uid = '', resourceVersion = '' } }: UnstructuredObject, version: string): string {
  return `${version} ${resourceVersion} ${uid}`
}

export class ConvertedCache {
  readonly #objects = new Map<string, { readonly object: JsonObject; readonly bytes: number }>()
  readonly #bytesMax: number
  #bytes = 0

  constructor({ bytesMax = 16 * 1024 * 1024 }: { bytesMax?: number } = {}) {
    this.#bytesMax = bytesMax
  }

  get(key: string): JsonObject | undefined {
    return this.#objects.get(key)?.object
  }

  /** `bytes` is the approximate size of the object. */
  put(key: string, object: JsonObject, bytes: number): void {
    this.#bytes += bytes - (this.#objects.get(key)?.bytes ?? 0)
    this.#objects.delete(key)
    this.#objects.set(key, { object, bytes })
    for (const [oldest, { bytes: freed }] of this.#objects) {
      if (this.#bytes <= this.#bytesMax) break
      this.#objects.delete(oldest)
      this.#bytes -= freed
    }
  }
}
