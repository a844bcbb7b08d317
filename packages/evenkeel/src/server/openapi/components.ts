/**
 * The schemas of one document: the types it speaks of and everything they refer to, by published name.
 *
 * Published schemas of built-in types are shared by all documents of a form, since most speak of the same
 * metadata. Names come out sorted, so a document does not depend on the order in which types were met.
 */
import type { GroupVersion, JsonObject, JsonObjectDraft } from '#api'
import { publishSchema } from './publish-schema.ts'
import { builtinType, type PublishedType } from './types.ts'

type SchemaForm = 'v2' | 'v3'

interface PublishedSchema {
  readonly schema: JsonObject
  readonly references: readonly PublishedType[]
}

const sharedSchemas: Readonly<Record<SchemaForm, Map<string, PublishedSchema>>> = { v2: new Map(), v3: new Map() }

/** Kinds that every group version has as its own. */
const commonKinds = ['DeleteOptions', 'WatchEvent'] as const

export class Components {
  readonly #form: SchemaForm
  readonly #schemas = new Map<string, JsonObject>()

  constructor(form: SchemaForm) {
    this.#form = form
  }

  /** Adds a type with everything it refers to; gives the reference to it. */
  add(type: PublishedType): JsonObject {
    const pending = [type]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (this.#schemas.has(next.name)) continue
      const { schema, references } = this.#publish(next)
      this.#schemas.set(next.name, schema)
      for (const reference of references) if (!this.#schemas.has(reference.name)) pending.push(reference)
    }
    return { $ref: `${this.#form === 'v3' ? '#/components/schemas/' : '#/definitions/'}${type.name}` }
  }

  /** All schemas by name. The kinds that belong to every group version say so for the given ones. */
  schemas(versions: readonly GroupVersion[]): JsonObject {
    const sorted: JsonObjectDraft = {}
    for (const name of [...this.#schemas.keys()].sort()) sorted[name] = this.#schemas.get(name)
    for (const kind of commonKinds) {
      const { name } = builtinType(`meta.v1.${kind}`)
      const schema = this.#schemas.get(name)
      if (schema) sorted[name] = { ...schema, 'x-kubernetes-group-version-kind': kindsOf(kind, versions) }
    }
    return sorted
  }

  #publish(type: PublishedType): PublishedSchema {
    const known = sharedSchemas[this.#form].get(type.name)
    if (known) return known
    const references = new Set<string>()
    const schema = publishType(type, { form: this.#form, onReference: (name) => references.add(name) })
    // A custom type's list refers to the type itself, which its own operations add.
    const published = {
      schema,
      references: [...references].map(builtinType).filter(({ node }) => node() !== undefined),
    }
    if (!type.custom) sharedSchemas[this.#form].set(type.name, published)
    return published
  }
}

function publishType(
  { node, custom }: PublishedType,
  { form, onReference }: { form: SchemaForm; onReference(name: string): void },
): JsonObject {
  const root = node() ?? { type: 'object' }
  // Old clients take a list of properties for a complete one, so an open object must have none.
  const isOpen = custom && form === 'v2' && root['x-kubernetes-preserve-unknown-fields'] === true
  if (!isOpen) return publishSchema(root, { form, custom, onReference })
  return { type: 'object', 'x-kubernetes-group-version-kind': root['x-kubernetes-group-version-kind'] ?? [] }
}

function kindsOf(kind: string, versions: readonly GroupVersion[]): JsonObject[] {
  const others = versions.filter(({ group, version }) => group !== '' || version !== 'v1')
  return [{ group: '', version: 'v1' }, ...others].map(({ group, version }) => ({ group, kind, version }))
}
