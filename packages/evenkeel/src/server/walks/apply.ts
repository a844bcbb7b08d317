/**
 * The walk of PATCH with an applied configuration: the client says all it wants, the server finds out what changed.
 *
 * Creates what is not there. What the manager applied before and leaves out now goes, unless somebody else wants it;
 * what others manage stays theirs, or the whole request is a conflict.
 */
import { badRequest, isJsonObject } from '#api'
import type { JsonObject, UnstructuredObject } from '#api'
import { readYaml } from '#wire'
import type { WireResponse } from '#wire'
import type { Call, Rooms, Target } from '../call.ts'
import { readBody, shapeObject } from '../decode.ts'
import { applied } from '../resources/manage.ts'
import { applyDefaults } from '../mutate.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { chooseForm, replyStored } from '../reply.ts'
import type { ObjectDraft } from '../resources/resource.ts'
import { createObject } from './create.ts'
import { modify } from './modify.ts'
import { checkName } from './update.ts'

export async function applyAll(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource)
  const bytes = await readBody(call.request)
  const { dryRun, fieldManager, fieldValidation, force } = readWriteOptions(call.query, 'PatchOptions', { isApply: true })
  const config = await readConfiguration(bytes)
  const wanted = (current: UnstructuredObject | undefined): ObjectDraft => {
    const object = applied(config, current, { manager: fieldManager, target, rooms, force })
    const shaped = shapeObject({ value: JSON.parse(JSON.stringify(object)) as JsonObject, duplicates: [] }, resource, { fieldValidation, warnings: call.warnings })
    checkName(shaped, target)
    applyDefaults(shaped, resource)
    return shaped
  }
  const create = target.subresource === undefined ? () => createObject(() => wanted(undefined), { call, target, rooms, dryRun }) : undefined
  const { stored, created } = await modify(wanted, { call, target, rooms, dryRun, create })
  return replyStored(call, stored, { status: created ? 201 : 200, resource, choice, rooms })
}

async function readConfiguration(bytes: Uint8Array): Promise<JsonObject> {
  const { value } = await readYaml(bytes)
  if (!isJsonObject(value)) throw badRequest('error decoding YAML: the configuration must be an object')
  return value
}
