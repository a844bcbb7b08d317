/**
 * Conversion of objects during admission: to the version that a rule matched, and decoded again after a change.
 *
 * A plugin may add unknown fields: they are dropped without a warning, as upstream does. A result that is not an object
 * of the kind is a bug of the plugin, not of the client.
 */
import { internalError, isApiError, setOwn, type JsonValue, type UnstructuredObject } from '#api'
import { builtinSchemas, schemaName, type ObjectDraft, type Resource, type Subresource } from '@evenkeel/builtins'
import { shapeObject } from '../handlers/request-body.ts'
import { applyDefaults } from '../registry/strategy.ts'
import { Warnings, type ResourceRef } from '../request-context.ts'
import { convertBetween } from '../storage/codec.ts'

const bodyResources = new WeakMap<Subresource, Resource>()

/** The resource of the request body: that of the target, or that of its subresource (a Scale, an Eviction). */
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
 * Replaces a draft by the result of a plugin, decoded and defaulted.
 *
 * @throws {ApiError} `InternalError`, when that is not an object of the kind.
 */
export function replaceDraft(draft: ObjectDraft, value: JsonValue, form: Resource): void {
  // Decoding may work in place: the result may be the draft itself.
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

/**
 * An object in another version of its resource.
 *
 * @throws {ApiError} 500, when a converter failed.
 */
export async function convertToVersion(
  object: UnstructuredObject,
  from: Resource,
  to: Resource,
): Promise<UnstructuredObject> {
  // A subresource with its own type (Scale) is the same in all versions.
  if ((from.group === to.group && from.version === to.version) || object.kind !== from.kind) return object
  const { reading } = from
  if (reading === undefined) return convertBetween(object, from, to)
  if (reading.convert === undefined) return reading.read(object, to.version)
  const [converted = object] = await reading.convert([object], to.version)
  return reading.read(converted, to.version)
}
