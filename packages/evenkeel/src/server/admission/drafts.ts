/**
 * Drafts that admission changes: whatever comes back from a hook is brought into the shape of its kind again.
 *
 * A hook may add fields that nobody knows: they are dropped without a word, as upstream does. What cannot be an object
 * of the kind at all is the hook's mistake, not the client's.
 */
import { internalError, isApiError, setOwn } from '#api'
import type { JsonValue } from '#api'
import { Warnings } from '../answers/warnings.ts'
import { builtinSchemas, schemaName } from '../builtin/definitions.ts'
import type { ResourceRef } from '../call.ts'
import { shapeObject } from '../decode.ts'
import { applyDefaults } from '../mutate.ts'
import type { ObjectDraft, Resource, Subresource } from '../resources/resource.ts'

const bodyResources = new WeakMap<Subresource, Resource>()

/** What the object of a write is: the resource, or what its subresource reads and writes (a Scale, an Eviction). */
export function bodyResource({ resource, subresource }: Pick<ResourceRef, 'resource' | 'subresource'>): Resource {
  if (subresource === undefined || (subresource.kind === resource.kind && subresource.group === resource.group))
    return resource
  let form = bodyResources.get(subresource)
  if (form === undefined) bodyResources.set(subresource, (form = subresourceBody(resource, subresource)))
  return form
}

function subresourceBody(owner: Resource, { group, version, kind }: Subresource): Resource {
  const name = schemaName({ group, version, kind })
  const { checkName, unconditionalUpdate, createOnUpdate, generation, returnsDeleted, dependents } = owner.strategy
  return {
    ...owner,
    group,
    version,
    kind,
    custom: false,
    storage: { ...owner.storage, group, version, kind },
    schema: { name, definitions: builtinSchemas, root: builtinSchemas(name) ?? {} },
    // The rules of the owner are about the owner.
    strategy: { checkName, unconditionalUpdate, createOnUpdate, generation, returnsDeleted, dependents },
  }
}

/**
 * Makes a draft what a hook made of it, shaped and complete.
 *
 * @throws {ApiError} `InternalError`, when that is no object of the kind.
 */
export function replaceDraft(draft: ObjectDraft, value: JsonValue, form: Resource): void {
  // Shaping may work in place: what it gives may be the draft itself.
  const entries = Object.entries(shape(value, form)) as [string, JsonValue][]
  for (const name of Object.keys(draft)) Reflect.deleteProperty(draft, name)
  for (const [name, part] of entries) setOwn(draft, name, part)
}

function shape(value: JsonValue, form: Resource): ObjectDraft {
  try {
    const shaped = shapeObject({ value, duplicates: [] }, form, { fieldValidation: 'Ignore', warnings: new Warnings() })
    applyDefaults(shaped, form)
    return shaped
  } catch (error) {
    throw isApiError(error) ? internalError(error) : error
  }
}
